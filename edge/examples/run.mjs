// Runs an example app with all that it needs: node run.mjs site|api|sveltekit|solidstart|next [dev]
// The handler is on workerd, and beside it an OpenID provider that takes any name. The first two
// hold the handler, the others are pointed at one.
import { execFileSync, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"

const here = path.dirname(fileURLToPath(import.meta.url))
const tools = path.join(here, "../worker")
const name = process.argv[2]
const mode = process.argv[3] ?? "start"
const isWorker = ["site", "api"].includes(name)
if (!isWorker && !["sveltekit", "solidstart", "next"].includes(name)) {
  console.error("which app? node run.mjs site|api|sveltekit|solidstart|next [dev]")
  process.exit(2)
}
const app = path.join(here, name)
const origin = "http://localhost:3000"
const edge = isWorker ? "127.0.0.1:3000" : "127.0.0.1:8787"
const idp = "127.0.0.1:9400"
const appSettings = { ORIGIN: origin, PORT: "3000", EDGE_URL: `http://${edge}` }

const sh = (cwd, env, command, ...args) => execFileSync(command, args, { cwd, env: { ...process.env, ...env }, stdio: "inherit" })
for (const dir of isWorker ? [tools] : [tools, app]) {
  const installed = path.join(dir, "node_modules/.package-lock.json")
  const isFresh = fs.existsSync(installed) && fs.statSync(installed).mtimeMs >= fs.statSync(path.join(dir, "package-lock.json")).mtimeMs
  if (!isFresh) sh(dir, {}, "npm", "ci", "--no-audit", "--no-fund")
}
const program = isWorker ? name : "worker"
const worker = path.join(here, "../../build/examples", program)
fs.mkdirSync(worker, { recursive: true })
const flags = ["-tags", "nethttpomithttp2", "-ldflags=-s -w", "-trimpath"]
sh(here, { GOOS: "js", GOARCH: "wasm" }, "go", "build", ...flags, "-o", path.join(worker, "app.wasm"), `./${program}`)
const goroot = execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim()
for (const file of [...["worker.mjs", "program.mjs", "calls.mjs", "store.mjs", "records.mjs"].map((name) => path.join(tools, name)), path.join(goroot, "lib/wasm/wasm_exec.js")])
  fs.copyFileSync(file, path.join(worker, path.basename(file)))
if (mode === "start" && !isWorker) sh(app, appSettings, "npm", "run", "build")

// Each has a process group of its own, since npm passes no signal on.
const running = new Set()
const run = (cwd, env, command, ...args) => {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: "inherit", detached: true })
  running.add(child)
  child.on("exit", () => running.delete(child) && end())
}
const end = () => running.forEach((child) => process.kill(-child.pid, "SIGTERM"))
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, end)

run(tools, { ADDR: idp, REDIRECT_URIS: ["/auth", "/api/auth"].map((base) => `${origin}${base}/callback/idp`).join() }, process.execPath, "idp.mjs")
const handlerSettings = {
  ADDR: edge,
  AUTH_URL: origin,
  AUTH_SECRET: randomBytes(32).toString("hex"),
  AUTH_IDP_ISSUER: `http://${idp}`,
  AUTH_IDP_ID: "demo",
  AUTH_IDP_SECRET: "demo-secret",
}
run(tools, handlerSettings, process.execPath, "serve.mjs", worker)
if (!isWorker) run(app, appSettings, "npm", "run", mode)
