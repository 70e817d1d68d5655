// Serves a built worker on Bun 1.4 or newer: ADDR=127.0.0.1:8787 bun edge/hosts/bun.mjs build/worker
// Settings are environment variables. AUTH_STORE is the folder of the stores; without it they are in memory.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { stores } from "./stores.mjs";

Bun.plugin({ name: "wasm", setup: build => build.onLoad({ filter: /\/app\.wasm$/ }, ({ path }) =>
  ({ loader: "object", exports: { default: new WebAssembly.Module(readFileSync(path)) } })) }); // a compiled module, as on Workers
const { default: worker, AuthStore } = await import(resolve(process.argv[2] ?? "build/worker", "worker.mjs"));
const env = { ...process.env, ...stores(AuthStore, process.env.AUTH_STORE) };

const [, hostname, port] = /(.*):(\d+)$/.exec(process.env.ADDR ?? "127.0.0.1:8787");
const server = Bun.serve({ hostname, port: +port, idleTimeout: 60, fetch: request => worker.fetch(request, env) });
console.log(`listening on http://${hostname}:${server.port}`);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.stop().then(() => process.exit()));
