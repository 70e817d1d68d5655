// What the init of each package of a Go program for edge.Serve costs, in Node.js, whose V8 compiles as workerd's does:
//
//	node edge/bench/inits.mjs app.wasm wasm_exec.js [times]
//
// It prints the least of so many times, in milliseconds, as GODEBUG=inittrace=1 tells it. Each is in a process
// of its own, because V8 keeps what it has compiled.
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath, pathToFileURL } from "node:url"

const [app, wasmExec, times = 15] = process.argv.slice(2)
if (times === "once") await start()
else summary()

async function start() {
  await import(pathToFileURL(wasmExec))
  // Node.js loads these when they are first used, workerd has them.
  for (const name of ["Request", "Response", "Headers", "FormData", "ReadableStream", "fetch"]) void globalThis[name]
  crypto.getRandomValues(new Uint8Array(8))
  const go = new Go(), module = new WebAssembly.Module(readFileSync(app))
  go.env.GODEBUG = "inittrace=1"
  const missing = WebAssembly.Module.imports(module).filter(i => i.module === "edge")
  const end = () => process.exit() // at the call of edge.Serve
  go.importObject.edge = Object.fromEntries(missing.map(i => [i.name, end]))
  globalThis.context = { env: {}, binding: {} }
  await go.run(new WebAssembly.Instance(module, go.importObject))
}

function summary() {
  const least = new Map()
  const once = [fileURLToPath(import.meta.url), app, wasmExec, "once"]
  for (let i = 0; i < times; i++) {
    const { stdout, stderr } = spawnSync(process.execPath, once, { encoding: "utf8" })
    const inits = [...stdout.matchAll(/^init (\S+) @.* ms, (\S+) ms clock, (.*)$/gm)] // Go's lines go through console.log
    if (!inits.length) throw new Error(stderr || stdout)
    for (const [, name, ms, rest] of inits) if (!(least.get(name)?.ms <= +ms)) least.set(name, { ms: +ms, rest })
  }
  let sum = 0
  for (const [name, { ms, rest }] of [...least].sort((a, b) => b[1].ms - a[1].ms)) {
    console.log(ms.toFixed(3).padStart(7), name, `(${rest})`)
    sum += ms
  }
  console.log(sum.toFixed(3).padStart(7), "in all")
}
