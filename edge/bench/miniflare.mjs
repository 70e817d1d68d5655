// Serves the worker in the folder argv[2] on workerd with a database of its own, for the benchmark. A
// D1 database can't be had of workerd alone, so miniflare configures it for all. argv[3] has, as JSON:
//   entry     the module to start
//   database  "d1" or "object": what AUTH_DO is, a D1 database or a Durable Object
//   texts     text bindings
// Requests go to the worker's own socket, not through miniflare. Prints, as JSON, where that is
// and the process of workerd; ends with standard input.
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"

const { Miniflare } = createRequire(new URL("../worker/package.json", import.meta.url))("miniflare")
const dir = process.argv[2], { entry, database, texts } = JSON.parse(process.argv[3])
const types = { mjs: "ESModule", js: "ESModule", wasm: "CompiledWasm" }
const others = readdirSync(dir).filter((name) => name !== entry && types[name.split(".").at(-1)])
const mf = new Miniflare({
  host: "127.0.0.1",
  port: 0,
  modulesRoot: dir,
  modules: [entry, ...others].map((name) => ({ type: types[name.split(".").at(-1)], path: `${dir}/${name}` })),
  compatibilityDate: "2026-04-01",
  bindings: texts,
  d1Databases: database === "d1" ? ["AUTH_DO"] : [],
  durableObjects: database === "object" ? { AUTH_DO: { className: "AuthStore", useSQLite: true } } : {},
  unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
})
await mf.ready
const { host } = await mf.unsafeGetDirectURL()
console.log(JSON.stringify({ addr: host, pid: workerd() }))
process.stdin.resume().on("end", async () => {
  await mf.dispose()
  process.exit()
})

// Gives the number of the one process that this one has started, or 0 where there is no /proc.
function workerd() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ")[0])
  } catch {
    return 0
  }
}
