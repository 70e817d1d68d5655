// Serves a built worker on Node 22.15 or newer: ADDR=127.0.0.1:8787 node edge/hosts/node.mjs build/worker
// Settings are environment variables. AUTH_STORE is the folder of the stores; without it they are in memory.
import { createServer } from "node:http";
import { registerHooks } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { stores } from "./stores.mjs";

registerHooks({ load: (url, context, next) => !url.endsWith("/app.wasm") ? next(url, context) : { // a compiled module, as on Workers
  format: "module", shortCircuit: true,
  source: `import { readFileSync } from "node:fs"; export default new WebAssembly.Module(readFileSync(new URL(import.meta.url)))` } });
const { default: worker, AuthStore } = await import(pathToFileURL(resolve(process.argv[2] ?? "build/worker", "worker.mjs")));
const env = { ...process.env, ...stores(AuthStore, process.env.AUTH_STORE) };

async function answer({ method, url, headers: { host }, rawHeaders }, body) {
  const headers = rawHeaders.flatMap((name, i) => i % 2 ? [] : [[name, rawHeaders[i + 1]]]);
  return worker.fetch(new Request(`http://${host}${url}`, { method, headers, body, duplex: "half" }), env);
}
const server = createServer((request, response) =>
  answer(request, /^(GET|HEAD)$/.test(request.method) ? null : request).then(async answer => {
    response.statusCode = answer.status;
    response.setHeaders(answer.headers).end(Buffer.from(await answer.arrayBuffer()));
  }, () => response.writeHead(400).end())); // Request refuses it: no URL, or the method TRACE
const [, host, port] = /(.*):(\d+)$/.exec(process.env.ADDR ?? "127.0.0.1:8787");
server.listen(+port, host, () => console.log(`listening on http://${host}:${server.address().port}`));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.close());
