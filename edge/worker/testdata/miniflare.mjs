// Runs the worker in the folder argv[2] under miniflare, which brings a local Workers KV and
// Durable Objects; what they hold stays in the folder argv[3]. Prints where it listens; for
// each line on standard input it prints, as JSON, what is stored:
//   kv      the keys of the namespace STORE with their expirations
//   shards  for each object of ATOMIC how many records it has, expired ones included
// Ends with standard input.
import { Miniflare } from "miniflare";
import { createInterface } from "node:readline";

const [dir, state] = process.argv.slice(2);
const entry = `
  import { AuthStore as Store } from "./store.mjs";
  export { default } from "./worker.mjs";
  export class AuthStore extends Store {
    fetch(request) {
      if (new URL(request.url).pathname !== "/count") return super.fetch(request);
      return Response.json(this.rows("SELECT count(*) AS count FROM records")[0].count);
    }
  }`;
const mf = new Miniflare({
  host: "127.0.0.1",
  port: 0,
  modulesRoot: dir,
  modules: [
    { type: "ESModule", path: `${dir}/entry.mjs`, contents: entry },
    { type: "ESModule", path: `${dir}/worker.mjs` },
    { type: "ESModule", path: `${dir}/program.mjs` },
    { type: "ESModule", path: `${dir}/store.mjs` },
    { type: "ESModule", path: `${dir}/wasm_exec.js` },
    { type: "CompiledWasm", path: `${dir}/app.wasm` },
  ],
  compatibilityDate: "2026-04-01",
  kvNamespaces: ["STORE"],
  durableObjects: { ATOMIC: { className: "AuthStore", useSQLite: true } },
  kvPersist: `${state}/kv`,
  durableObjectsPersist: `${state}/objects`,
});
console.log(`listening on ${await mf.ready}`);
const stored = {
  kv: async () => (await (await mf.getKVNamespace("STORE")).list()).keys,
  shards: async () => {
    const objects = await mf.getDurableObjectNamespace("ATOMIC");
    const count = async i => (await objects.get(objects.idFromName(String(i))).fetch("http://store/count")).json();
    return Promise.all(Array.from({ length: 16 }, (_, i) => count(i)));
  },
};
for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await stored[line]()));
await mf.dispose();
