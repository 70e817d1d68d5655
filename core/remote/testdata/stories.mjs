// What remote.mjs does, told for any runtime: stories(edge, vectors) gives the failures. The edge
// is the URL of the real handler, http, with a credentials provider that takes any name.

import { edgeAuth, EdgeAuthError } from "../remote.mjs"

const app = "https://app.example"
const cookie = "__Secure-authjs.session-token"
const good = '{"user":{"name":"Ada"},"expires":"2999-01-31T12:00:00.000Z"}'
const json = { "content-type": "application/json" }

function equal(got, want, what = "value") {
  if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${what} is ${JSON.stringify(got)}, want ${JSON.stringify(want)}`)
}

async function rejects(promise, kind) {
  const outcome = await promise.then((value) => ({ value }), (error) => ({ error }))
  if (!(outcome.error instanceof EdgeAuthError)) throw new Error(`${JSON.stringify(outcome.value)} or ${outcome.error}, want ${kind}`)
  equal(outcome.error.kind, kind, "kind")
  if (`${outcome.error}`.includes("canary")) throw new Error(`the cookie is in the error: ${outcome.error}`)
}

const request = (headers = {}, path = "/page", init = {}) => new Request(app + path, { headers, ...init })
const visitor = (value = "canary", path) => request({ cookie: `${cookie}=${value}`, "sec-fetch-mode": "navigate" }, path)

// An edge that gives the same answer to everybody, and remembers the questions.
function edgeOf(body, status = 200, headers = json) {
  const fetch = async (url, init) => {
    fetch.asked.push({ url, ...init })
    return typeof body === "function" ? body(init) : new Response(body, { status, headers })
  }
  fetch.asked = []
  return fetch
}

const quiet = () => {}
const make = (options) => edgeAuth({ url: `${app}/auth`, onWarning: quiet, ...options })

// Signs in at the real handler, as the client does, and gives the Cookie header.
async function signIn(edge, name, image = "") {
  const jar = new Map()
  const call = async (path, init = {}) => {
    const headers = { ...init.headers, cookie: [...jar].map((pair) => pair.join("=")).join("; ") }
    const response = await fetch(`${edge}/${path}`, { ...init, headers, redirect: "manual" })
    for (const line of response.headers.getSetCookie()) {
      const [, key, value] = /^([^=]+)=([^;]*)/.exec(line)
      if (value) jar.set(key, value)
      else jar.delete(key)
    }
    return response
  }
  const { csrfToken } = await (await call("csrf")).json()
  const headers = { "x-auth-return-redirect": "1" }
  await call("callback/credentials", { method: "POST", headers, body: new URLSearchParams({ csrfToken, name, image }) })
  return [...jar].map((pair) => pair.join("=")).join("; ")
}

const told = {
  "asks the real handler, for plain and chunked cookies": async (edge) => {
    for (const size of [0, 3000, 9000]) {
      const auth = edgeAuth({ url: edge, origin: app })
      const it = request({ cookie: await signIn(edge, "Ada", "x".repeat(size)) })
      const { user, expires } = await auth.session(it)
      equal(user.name, "Ada")
      equal(user.image?.length ?? 0, size)
      equal(Date.parse(expires) > Date.now() + 29 * 864e5, true, "end")
      const response = auth.complete(it, new Response("page"))
      const names = response.headers.getSetCookie().map((line) => line.split("=")[0])
      equal(names.length, [1, 2, 4][[0, 3000, 9000].indexOf(size)], "handed on")
      equal(names.every((name) => name.startsWith("authjs.session-token")), true, `only session cookies of ${names}`)
    }
  },

  "reads the real handler's tokens": async (edge, { secret }) => {
    for (const size of [0, 3000, 9000]) {
      const nobody = edgeOf("null")
      const auth = edgeAuth({ url: edge, origin: app, fetch: nobody, secret: ["a newer secret of thirty-two characters", secret] })
      const { user } = await auth.session(request({ cookie: await signIn(edge, "Ada", "x".repeat(size)) }))
      equal([user.name, user.email, (user.image ?? "").length, nobody.asked.length], ["Ada", "Ada@app.example", size, 0])
    }
  },

  "agrees with the Go package on every cookie": async (edge, { cases, secret }) => {
    for (const { name, cookies, verdict } of cases) {
      const auth = make({ secret: ["a newer secret of thirty-two characters", secret], fetch: edgeOf("null") })
      const got = await auth.session(request({ cookie: cookies })).catch((error) => error.kind ?? `${error}`)
      equal(got, verdict, name)
    }
  },

  "asks with the session cookies and nothing else": async () => {
    const edge = edgeOf(good)
    await make({ fetch: edge }).session(request({
      cookie: `a=1; ${cookie}.1=two;authjs.session-token=p; __Host-authjs.csrf-token=c; ${cookie}.0="one"; ${cookie}.0=again; ${cookie}s=1; ${cookie}.200=1; ${cookie}.01=1`,
      authorization: "Bearer canary",
    }))
    const [{ url, headers, redirect }] = edge.asked
    equal([url, redirect], [`${app}/auth/session`, "manual"])
    equal(headers, { accept: "application/json", cookie: `${cookie}.1=two; authjs.session-token=p; ${cookie}.0="one"`, "edgeauth-question": "1" })
  },

  "asks elsewhere in the name of the public address": async () => {
    const edge = edgeOf(good)
    await make({ fetch: edge, internalUrl: "http://edge.internal:8787/auth/" }).session(visitor())
    equal(edge.asked[0].url, "http://edge.internal:8787/auth/session")
    equal([edge.asked[0].headers["x-forwarded-host"], edge.asked[0].headers["x-forwarded-proto"]], ["app.example", "https"])
  },

  "asks nobody without a session cookie": async () => {
    const edge = edgeOf(good)
    for (const cookies of ["", "other=1", `${cookie}=`, "=x; ;;"]) equal(await make({ fetch: edge }).session(request({ cookie: cookies })), null)
    equal(edge.asked.length, 0)
  },

  "takes for a session only what is one": async () => {
    equal((await make({ fetch: edgeOf(good + " ".repeat((128 << 10) - good.length)) }).session(visitor())).user.name, "Ada")
    equal(await make({ fetch: edgeOf("null") }).session(visitor()), null)
    for (const [kind, ...answer] of [
      ["EdgeAnswer", good + " ".repeat((128 << 10) - good.length + 1)],
      ["EdgeAnswer", good, 201], ["EdgeAnswer", good, 404], ["EdgeDown", good, 500], ["EdgeDown", "null", 503], ["EdgeDown", "null", 429],
      ["EdgeAnswer", null, 302, { location: "/auth/error" }], ["EdgeAnswer", good, 200, { "content-type": "text/html" }], ["EdgeAnswer", good, 200, {}],
      ...['{"message":"x"}', "{}", '{"user":{}}', '{"user":{},"expires":"soon"}', '{"user":{},"expires":1}', '{"user":"Ada","expires":"2999-01-31T12:00:00Z"}',
        '{"user":[],"expires":"2999-01-31T12:00:00Z"}', `[${good}]`, "true", '"Bad request."', "", good + good, good.slice(0, 20)].map((body) => ["EdgeAnswer", body]),
      ["EdgeAnswer", new Uint8Array([34, 255, 34])],
    ]) await rejects(make({ fetch: edgeOf(...answer) }).session(visitor()), kind)
  },

  "knows an edge that is down from one that is slow": async () => {
    const alive = setInterval(quiet, 1000) // Node ends where nothing but a signal's timer is awaited
    const hangs = ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
    await rejects(make({ fetch: edgeOf(hangs), timeout: 0.01 }).session(visitor()), "EdgeSlow")
    clearInterval(alive)
    await rejects(make({ fetch: edgeOf(() => Promise.reject(new TypeError("fetch failed"))) }).session(visitor()), "EdgeDown")
    const cut = () => new Response(new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) }), { headers: json })
    await rejects(make({ fetch: edgeOf(cut) }).session(visitor()), "EdgeDown")
    await rejects(edgeAuth({ url: "http://127.0.0.1:1/auth", origin: app }).session(request({ cookie: "authjs.session-token=canary" })), "EdgeDown")
  },

  "has the edge judge what it can't read": async (_, { judged, secret }) => {
    for (const { name, token, edge, verdict, warning } of judged) {
      const warned = []
      const answers = { session: edgeOf(good), null: edgeOf("null"), down: edgeOf("null", 503) }[edge]
      const auth = make({ secret, fetch: answers, onWarning: (code) => warned.push(code) })
      const got = await auth.session(visitor(token)).catch((error) => error.kind)
      equal([got?.user ? "session" : got, warned], [verdict, warning ? [warning] : []], name)
    }
  },

  "lets fromToken make the session": async (_, { secret, token }) => {
    const auth = make({ secret, fetch: edgeOf("null"), fromToken: async (claims, session) => ({ ...session, user: { ...session.user, id: claims.sub } }) })
    equal((await auth.session(visitor(token))).user, { name: "Ada", id: "1" })
    const failing = make({ secret, fetch: edgeOf("null"), fromToken: () => { throw new Error("no such tenant") } })
    const error = await failing.session(visitor(token)).catch((error) => error)
    equal(`${error}`, "Error: no such tenant")
  },

  "keeps answers for a while, each for its cookie": async () => {
    let ends = "2999-01-31T12:00:00.000Z"
    const edge = edgeOf(({ headers }) => new Response(JSON.stringify({ user: { name: headers.cookie }, expires: ends }), { headers: json }))
    const auth = make({ fetch: edge, cacheEntries: 2 })
    const asks = async (value, want) => {
      const before = edge.asked.length
      const session = await auth.session(visitor(value))
      equal(session.user.name, `${cookie}=${value}`)
      session.user.name = "changed"
      equal(edge.asked.length - before, want, `questions for ${value}`)
    }
    const clock = Date.now
    try {
      let now = clock()
      Date.now = () => now
      await asks("a", 1); await asks("a", 0); await asks("b", 1); await asks("b", 0)
      now += 4999; await asks("a", 0)
      now += 1; await asks("a", 1)
      await asks("c", 1); await asks("d", 1); await asks("a", 1)
      ends = new Date(now + 2000).toISOString()
      await asks("short", 1); now += 1999; await asks("short", 0); now += 1; await asks("short", 1)
    } finally {
      Date.now = clock
    }
  },

  "follows a token that is renewed": async () => {
    let turn = 0
    const edge = edgeOf(() => {
      const response = new Response(good, { headers: json })
      response.headers.append("set-cookie", `${cookie}=${++turn}; Path=/; HttpOnly`)
      response.headers.append("set-cookie", `${cookie}.0=; Path=/; Max-Age=0`)
      return response
    })
    const auth = make({ fetch: edge })
    await auth.session(request({ cookie: `${cookie}.0=old` }))
    await auth.session(request({ cookie: `${cookie}=1` }))
    equal(edge.asked.length, 1, "questions")
  },

  "hands on session cookies, and marks what depends on them": async () => {
    const answer = () => {
      const response = new Response(good, { headers: json })
      for (const line of ["tracking=1", `${cookie}=new; Path=/; HttpOnly`, `${cookie}s=1`, "__Host-authjs.csrf-token=x"]) response.headers.append("set-cookie", line)
      return response
    }
    const show = ({ headers }) => [headers.get("vary"), headers.get("cache-control"), headers.getSetCookie()]
    for (const [given, control] of [[{}, "private, no-cache, no-store"], [{ "cache-control": "public, max-age=60" }, "private, no-cache, no-store"], [{ "cache-control": "private, max-age=60" }, "private, max-age=60"]]) {
      const auth = make({ fetch: edgeOf(answer) })
      const it = visitor()
      await auth.session(it)
      equal(show(auth.complete(it, new Response("", { headers: given }))), ["Cookie", control, [`${cookie}=new; Path=/; HttpOnly`]])
      equal(show(auth.complete(it, new Response(""))), [null, null, []], "a second response")
    }
    const auth = make({ fetch: edgeOf(answer) })
    const it = visitor()
    await auth.session(it)
    equal(show(auth.complete(it, Response.redirect(app)))[2].length, 1, "cookies of a response that can't be changed")
    const stranger = request({})
    equal(show(auth.complete(stranger, new Response("", { headers: { "cache-control": "public" } }))), [null, "public", []], "unasked")
    await auth.session(stranger)
    equal(show(auth.complete(stranger, new Response("", { headers: { "cache-control": "public" } }))), ["Cookie", "public", []], "a stranger")
    const failed = make({ fetch: edgeOf("null", 503) })
    const unknown = visitor()
    await failed.session(unknown).catch(quiet)
    equal(show(failed.complete(unknown, new Response("")))[1], "private, no-cache, no-store", "unknown")
    const pending = visitor()
    const later = failed.session(pending).catch(quiet)
    equal(show(failed.complete(pending, new Response("")))[1], "private, no-cache, no-store", "not yet known")
    await later
  },

  "is SvelteKit's handle": async () => {
    const edge = edgeOf(() => new Response(good, { headers: { ...json, "set-cookie": `${cookie}=new; Path=/` } }))
    const auth = make({ fetch: edge })
    const event = (it) => ({ request: it, url: new URL(it.url), locals: {} })
    const page = async (event) => new Response(`Hello, ${(await event.locals.auth())?.user.name} and ${(await event.locals.auth())?.user.name}`)
    const response = await auth.handle({ event: event(visitor()), resolve: page })
    equal([await response.text(), response.headers.getSetCookie(), edge.asked.length], ["Hello, Ada and Ada", [`${cookie}=new; Path=/`], 1])
    const untouched = await auth.handle({ event: event(visitor()), resolve: async () => new Response("static") })
    equal([...untouched.headers.keys()].includes("vary"), false, "vary of a page that did not ask")
    const data = { ...event(request({ "sec-fetch-mode": "cors" }, "/page/__data.json?x-sveltekit-invalidated=1")), url: new URL(`${app}/page`), isDataRequest: true }
    const denied = await auth.handle({ event: data, resolve: (it) => auth.require(it) })
    equal([denied.status, denied.headers.get("location")], [303, "/auth/signin?callbackUrl=%2Fpage"])
  },

  "is SolidStart's middleware": async () => {
    const auth = make({ fetch: edgeOf(() => new Response(good, { headers: { ...json, "set-cookie": `${cookie}=new; Path=/` } })) })
    const event = { request: visitor(), locals: {}, response: { headers: new Headers() } }
    equal(auth.onRequest(event), undefined)
    equal([(await event.locals.auth()).user.name, (await event.locals.auth()).user.name], ["Ada", "Ada"])
    equal([event.response.headers.getSetCookie(), event.response.headers.get("cache-control")], [[`${cookie}=new; Path=/`], "private, no-cache, no-store"])
  },

  "sends page loads to sign in and tells everybody else": async () => {
    const other = { url: "https://auth.example/auth", origin: app }
    for (const [options, headers, path, method, status, location] of [
      [{}, { "sec-fetch-mode": "navigate" }, "/page?a=b&c=%26", "GET", 303, "/auth/signin?callbackUrl=%2Fpage%3Fa%3Db%26c%3D%2526"],
      [{}, { accept: "text/html,*/*;q=0.8" }, "/page", "GET", 303, "/auth/signin?callbackUrl=%2Fpage"],
      [{}, { "sec-fetch-mode": "navigate" }, "/page", "POST", 303, "/auth/signin"],
      [{}, { "sec-fetch-mode": "navigate" }, "//evil.example/x", "GET", 303, "/auth/signin?callbackUrl=%2Fevil.example%2Fx"],
      [{}, { "sec-fetch-mode": "cors", accept: "text/html" }, "/api", "GET", 401, "/auth/signin?callbackUrl=%2Fapi"],
      [{}, { accept: "*/*" }, "/api", "DELETE", 401, "/auth/signin"],
      [other, { "sec-fetch-mode": "navigate" }, "/page", "GET", 303, "https://auth.example/auth/signin?callbackUrl=https%3A%2F%2Fapp.example%2Fpage"],
      [{ signInPage: "/login?lang=de" }, { "sec-fetch-mode": "navigate" }, "/page", "GET", 303, "/login?lang=de&callbackUrl=%2Fpage"],
      [{ signInPage: "/login" }, { "sec-fetch-mode": "navigate" }, "/login", "GET", 401, null],
    ]) {
      const response = await make(options).require(request(headers, path, { method }))
      const isJSON = response.headers.get("content-type") === "application/json"
      equal([response.status, isJSON ? (await response.json()).url : response.headers.get("location")], [status, location], `${method} ${path}`)
      equal([response.headers.get("cache-control"), response.headers.get("vary")], ["private, no-cache, no-store", "Cookie"])
    }
    class Touchy extends Request { // as those of Next.js
      get request() {
        throw new Error("a request has no request")
      }
    }
    equal((await make({ fetch: edgeOf(good) }).require(new Touchy(visitor()))).user.name, "Ada")
    equal((await make({ fetch: edgeOf(good) }).require(visitor())).user.name, "Ada")
    for (const body of ['{"expires":"2999-01-31T12:00:00Z"}', '{"user":null,"expires":"2999-01-31T12:00:00Z"}'])
      equal((await make({ fetch: edgeOf(body) }).require(visitor())).status, 303, "a session without a user")
  },

  "neither lets in nor sends away whom it does not know": async (_, { token }) => {
    const { error } = console
    console.error = quiet
    try {
      for (const [options, status] of [
        [{ fetch: edgeOf("null", 503) }, 503], [{ fetch: edgeOf("<!doctype html>", 200, { "content-type": "text/html" }) }, 500],
        [{ fetch: edgeOf(good), secret: "the secret of some other site, quite" }, 500],
      ]) for (const mode of ["navigate", "cors"]) {
        const response = await make(options).require(request({ cookie: `${cookie}=${token}`, "sec-fetch-mode": mode }))
        equal([response.status, response.headers.has("location"), response.headers.has("retry-after")], [status, false, status === 503])
        equal(response.headers.get("content-type").startsWith("application/json"), mode === "cors", "JSON")
      }
    } finally {
      console.error = error
    }
  },

  "ends a circle of redirects": async () => {
    const warned = []
    const auth = make({ onWarning: (code) => warned.push(code) })
    let cookies = ""
    for (let turn = 0; turn <= 5; turn++) {
      const response = await auth.require(request({ cookie: cookies, "sec-fetch-mode": "navigate" }, "/page?a=b&c=d"))
      equal(response.status, turn < 5 ? 303 : 401, `status in turn ${turn}`)
      if (turn === 5) equal((await response.text()).includes('<a href="/auth/signin?callbackUrl=%2Fpage%3Fa%3Db%26c%3Dd">'), true, "link")
      else cookies = response.headers.getSetCookie()[0].split(";")[0]
    }
    equal(warned, ["signin-loop"])
    const page = await make({ signInPage: "/login?lang=de" }).require(request({ cookie: "edgeauth.redirects=9", "sec-fetch-mode": "navigate" }))
    equal((await page.text()).includes('<a href="/login?lang=de&#38;callbackUrl=%2Fpage">'), true, "link")
    const known = make({ fetch: edgeOf(good) })
    const it = request({ cookie: `${cookie}=x; ${cookies}` })
    await known.session(it)
    equal(known.complete(it, new Response("")).headers.getSetCookie(), ["edgeauth.redirects=0; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure"])
  },

  "asks no question of itself": async () => {
    const { error } = console
    console.error = quiet
    try {
      for (const path of ["/auth/signin", "/auth/session", "/auth//callback/hub", "/x/../auth/error"]) {
        await rejects(make({ fetch: edgeOf(good) }).session(visitor("x", path)), "NotMounted")
        equal((await make({ fetch: edgeOf(good) }).require(visitor("x", path))).status, 500)
      }
      await rejects(make({ fetch: edgeOf(good) }).session(request({ cookie: `${cookie}=x`, "edgeauth-question": "1" })), "NotMounted")
      for (const path of ["/auth", "/auth/other", "/authors/signin", "/signin"]) equal((await make({ fetch: edgeOf(good) }).session(visitor("x", path))).user.name, "Ada", path)
    } finally {
      console.error = error
    }
  },

  "refuses a configuration that can't be meant": async () => {
    for (const options of [{ url: `${app}/auth?x` }, { url: "ftp://app.example" }, { secret: "" }, { secret: [] }, { secret: ["a", ""] }])
      await rejects((async () => make(options))(), "InvalidConfig")
  },
}

export async function stories(edge, vectors) {
  const failures = []
  for (const [name, tell] of Object.entries(told)) {
    try {
      await tell(edge, vectors)
    } catch (error) {
      failures.push(`${name}: ${error?.stack ?? error}`)
    }
  }
  return { told: Object.keys(told).length, failures }
}
