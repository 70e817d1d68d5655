// Serves a built worker on workerd itself, which listens on ADDR:
//   ADDR=127.0.0.1:8787 node serve.mjs DIR
// DIR holds worker.mjs and the modules it imports: program.mjs, calls.mjs, store.mjs, records.mjs, wasm_exec.js and app.wasm. Variables that begin with AUTH_,
// CONF_ or EDGE_ are the worker's bindings; their values stay in the environment. AUTH_DO is the class AuthStore, and AUTH_KV the Workers
// KV namespace in kv.mjs. What they hold ends with workerd. So does this program.
import { spawn } from "node:child_process"
import fs from "node:fs"
import net from "node:net"
import os from "node:os"
import path from "node:path"
import { createRequire } from "node:module"

const dir = path.resolve(process.argv[2] ?? "build/worker")
const addr = process.env.ADDR ?? "127.0.0.1:8787"
const [host, port] = [addr.slice(0, addr.lastIndexOf(":")), Number(addr.slice(addr.lastIndexOf(":") + 1))]

const bindings = Object.keys(process.env)
  .filter((name) => /^(AUTH|CONF|EDGE)_\w+$/.test(name))
  .map((name) => `(name = "${name}", fromEnvironment = "${name}")`)
  .concat(`(name = "AUTH_DO", durableObjectNamespace = (className = "AuthStore"))`, `(name = "AUTH_KV", kvNamespace = "kv")`)
// The first module is the one that workerd starts.
const modules = ["worker.mjs", ...fs.readdirSync(dir).filter((f) => /\.m?js$|\.wasm$/.test(f) && f !== "worker.mjs")]
const kv = fs.readFileSync(new URL("kv.mjs", import.meta.url), "utf8")
const records = fs.mkdtempSync(path.join(os.tmpdir(), "auth-do-"))
const config = path.join(dir, `workerd-${process.pid}.capnp`)
fs.writeFileSync(config, `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "kv", worker = .kv),
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
    (name = "records", disk = (path = "${records}", writable = true)),
  ],
  sockets = [(name = "http", address = "${addr}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${modules.map((f) => `(name = "${f}", ${f.endsWith(".wasm") ? "wasm" : "esModule"} = embed "${f}")`).join(", ")}],
  compatibilityDate = "2026-04-01",
  bindings = [${bindings.join(", ")}],
  durableObjectNamespaces = [(className = "AuthStore", uniqueKey = "AuthStore", enableSql = true)],
  durableObjectStorage = (localDisk = "records"),
);
const kv :Workerd.Worker = (
  modules = [(name = "kv.mjs", esModule = ${JSON.stringify(kv)})],
  compatibilityDate = "2026-04-01",
);
`)
process.on("exit", () => [config, records].forEach((path) => fs.rmSync(path, { recursive: true, force: true })))

// The package of the binary itself, so that signals and exit codes are workerd's own.
const require = createRequire(import.meta.url)
const binary = require.resolve(`@cloudflare/workerd-${process.platform}-${process.arch === "x64" ? "64" : process.arch}/bin/workerd`)
const workerd = spawn(binary, ["serve", config], { stdio: "inherit" })
workerd.on("exit", (code, signal) => process.exit(signal ? 0 : (code ?? 1)))
workerd.on("error", (e) => {
  console.error(`workerd can't be started: ${e.message}`)
  process.exit(1)
})
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => workerd.kill(signal))

const accepts = () =>
  new Promise((resolve) => {
    const socket = net.connect(port, host.replace(/^\[|\]$/g, ""), () => resolve(true) || socket.destroy())
    socket.on("error", () => resolve(false))
  })
while (!(await accepts())) await new Promise((resolve) => setTimeout(resolve, 25))
console.log(`listening on http://${addr}`)
