// Runs the worker in the folder argv[2] under miniflare, which brings local Workers KV, Durable
// Objects and D1; what they hold stays in the folder argv[3]. argv[4] has the names of what is
// bound, of AUTH_KV, AUTH_DO and AUTH_DB, and the text bindings, as JSON. Prints where it
// listens; for each line on standard input it prints, as JSON, what is stored:
//   kv       the keys of AUTH_KV with their expirations
//   objects  the keys of the object "auth" of AUTH_DO, expired ones included
//   d1       the keys of AUTH_DB, expired ones included
// Ends with standard input.
import { Miniflare } from "miniflare";
import { createInterface } from "node:readline";

const [dir, state, settings] = process.argv.slice(2), { bound, texts } = JSON.parse(settings);
const keys = "SELECT key FROM auth_records ORDER BY key";
const entry = `
  import { AuthStore as Store } from "./store.mjs";
  export { default } from "./worker.mjs";
  export class AuthStore extends Store {
    fetch(request) {
      if (new URL(request.url).pathname !== "/keys") return super.fetch(request);
      return Response.json(this.run([["${keys}"]])[0].map(({ key }) => key));
    }
  }`;
const esModules = ["worker.mjs", "program.mjs", "calls.mjs", "store.mjs", "records.mjs", "wasm_exec.js"];
const mf = new Miniflare({
  host: "127.0.0.1",
  port: 0,
  modulesRoot: dir,
  modules: [
    { type: "ESModule", path: `${dir}/entry.mjs`, contents: entry },
    ...esModules.map(name => ({ type: "ESModule", path: `${dir}/${name}` })),
    { type: "CompiledWasm", path: `${dir}/app.wasm` },
  ],
  compatibilityDate: "2026-04-01",
  kvNamespaces: bound.filter(name => name === "AUTH_KV"),
  durableObjects: bound.includes("AUTH_DO") ? { AUTH_DO: { className: "AuthStore", useSQLite: true } } : {},
  d1Databases: bound.filter(name => name === "AUTH_DB"),
  bindings: texts ?? {},
  kvPersist: `${state}/kv`,
  durableObjectsPersist: `${state}/objects`,
  d1Persist: `${state}/d1`,
});
console.log(`listening on ${await mf.ready}`);
const stored = {
  kv: async () => (await (await mf.getKVNamespace("AUTH_KV")).list()).keys,
  objects: async () => {
    const namespace = await mf.getDurableObjectNamespace("AUTH_DO");
    return (await namespace.get(namespace.idFromName("auth")).fetch("http://store/keys")).json();
  },
  d1: async () => (await (await mf.getD1Database("AUTH_DB")).prepare(keys).all()).results.map(({ key }) => key),
};
for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await stored[line]()));
await mf.dispose();
