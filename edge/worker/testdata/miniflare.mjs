// Runs the worker in the folder argv[2] under miniflare, which brings a local
// Workers KV. Prints where it listens; for each line on standard input it prints
// the keys of the namespace with their expirations; ends with standard input.
import { Miniflare } from "miniflare";
import { createInterface } from "node:readline";

const dir = process.argv[2];
const mf = new Miniflare({
  host: "127.0.0.1",
  port: 0,
  modulesRoot: dir,
  modules: [
    { type: "ESModule", path: `${dir}/worker.mjs` },
    { type: "ESModule", path: `${dir}/program.mjs` },
    { type: "ESModule", path: `${dir}/wasm_exec.js` },
    { type: "CompiledWasm", path: `${dir}/app.wasm` },
  ],
  compatibilityDate: "2026-04-01",
  kvNamespaces: ["STORE"],
});
console.log(`listening on ${await mf.ready}`);
for await (const _ of createInterface({ input: process.stdin }))
  console.log(JSON.stringify((await (await mf.getKVNamespace("STORE")).list()).keys));
await mf.dispose();
