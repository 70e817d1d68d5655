// A worker of the benchmark, ours or @auth/core's, whose calls to its database are counted, and take
// DELAY milliseconds longer. GET /trips answers, since it was asked last, how many there were and how many
// of them were waited for one after the other. It is for one request at a time.
import worker from "./worker.mjs"
export * from "./worker.mjs"

let trips, sequence, underWay = 0, counted
const forget = () => { trips = sequence = 0 }
forget()

async function trip(delay, call) {
  trips++
  if (underWay++ === 0) sequence++
  try {
    await new Promise((resolve) => setTimeout(resolve, delay))
    return await call()
  } finally {
    underWay--
  }
}

function database(db, delay) {
  const real = Symbol()
  const statement = (s) => ({
    [real]: s,
    bind: (...values) => statement(s.bind(...values)),
    ...Object.fromEntries(["all", "first", "raw", "run"].map((name) => [name, (...given) => trip(delay, () => s[name](...given))])),
  })
  return {
    prepare: (text) => statement(db.prepare(text)),
    batch: (all) => trip(delay, () => db.batch(all.map((s) => s[real]))),
  }
}

const objects = (namespace, delay) => ({
  idFromName: (name) => namespace.idFromName(name),
  get: (...which) => {
    const stub = namespace.get(...which)
    return { fetch: (...given) => trip(delay, () => stub.fetch(...given)) }
  },
})

export default {
  fetch(request, env, ctx) {
    const { pathname } = new URL(request.url)
    if (pathname === "/trips") {
      const answer = Response.json({ trips, sequence })
      forget()
      return answer
    }
    counted ??= { ...env, AUTH_DO: (env.AUTH_DO.batch ? database : objects)(env.AUTH_DO, +env.DELAY) }
    return worker.fetch(request, counted, ctx)
  },
}
