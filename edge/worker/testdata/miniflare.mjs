// Runs the worker in the folder argv[2] under miniflare, which brings a local Workers KV and
// Durable Objects; what they hold stays in the folder argv[3]. The names of the namespace and
// of the class are argv[4] and argv[5], and argv[6] has the text bindings, as JSON. Prints where
// it listens; for each line on standard input it prints, as JSON, what is stored:
//   kv       the keys of the namespace with their expirations
//   shards   for each object how many records it has, expired ones included
//   records  the keys of all objects
// Ends with standard input.
import { Miniflare } from "miniflare";
import { createInterface } from "node:readline";

const [dir, state, kv, objects, texts] = process.argv.slice(2);
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
    { type: "ESModule", path: `${dir}/calls.mjs` },
    { type: "ESModule", path: `${dir}/store.mjs` },
    { type: "ESModule", path: `${dir}/wasm_exec.js` },
    { type: "CompiledWasm", path: `${dir}/app.wasm` },
  ],
  compatibilityDate: "2026-04-01",
  kvNamespaces: [kv],
  durableObjects: { [objects]: { className: "AuthStore", useSQLite: true } },
  bindings: JSON.parse(texts),
  kvPersist: `${state}/kv`,
  durableObjectsPersist: `${state}/objects`,
});
console.log(`listening on ${await mf.ready}`);
const all = async target => {
  const namespace = await mf.getDurableObjectNamespace(objects);
  const ask = async i => (await namespace.get(namespace.idFromName(String(i))).fetch("http://store/" + target)).json();
  return Promise.all(Array.from({ length: 16 }, (_, i) => ask(i)));
};
const stored = {
  kv: async () => (await (await mf.getKVNamespace(kv)).list()).keys,
  shards: () => all("count"),
  records: async () => (await all("list?prefix=&cursor=&limit=1000")).flat(),
};
for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await stored[line]()));
await mf.dispose();
