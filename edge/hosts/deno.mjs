// Serves a built worker on Deno 2.9 or newer: ADDR=127.0.0.1:8787 deno run -NERW edge/hosts/deno.mjs build/worker
// Settings are environment variables. AUTH_STORE is the folder of the stores; without it they are in memory.
import { registerHooks } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { stores } from "./stores.mjs";

registerHooks({ load: (url, context, next) => !url.endsWith("/app.wasm") ? next(url, context) : { // a compiled module, as on Workers
  format: "module", shortCircuit: true,
  source: `export default new WebAssembly.Module(Deno.readFileSync(new URL(import.meta.url)))` } });
const { default: worker, AuthStore } = await import(pathToFileURL(resolve(Deno.args[0] ?? "build/worker", "worker.mjs")));
const env = { ...Deno.env.toObject(), ...stores(AuthStore, Deno.env.get("AUTH_STORE")) };

const [, hostname, port] = /(.*):(\d+)$/.exec(Deno.env.get("ADDR") ?? "127.0.0.1:8787");
const onListen = ({ port }) => console.log(`listening on http://${hostname}:${port}`);
const server = Deno.serve({ hostname, port: +port, onListen }, request => worker.fetch(request, env));
for (const signal of ["SIGINT", "SIGTERM"]) Deno.addSignalListener(signal, () => server.shutdown().then(() => Deno.exit()));
