// Runs the worker in the folder argv[2] on Node and checks what workerd cannot
// show: headers of a host that keeps to the Fetch standard, and the retirement
// of instances, with a clock that can be turned.
import assert from "node:assert";
import { register } from "node:module";
import { pathToFileURL } from "node:url";

// Node imports no .wasm file by itself; on workerd it arrives as a compiled module.
register("data:text/javascript," + encodeURIComponent(`
  export const load = (url, context, next) => !url.endsWith(".wasm") ? next(url, context) : {
    format: "module", shortCircuit: true,
    source: 'import { readFileSync } from "node:fs"; export default new WebAssembly.Module(readFileSync(new URL(' + JSON.stringify(url) + ')));',
  };`));
const { default: worker } = await import(pathToFileURL(process.argv[2] + "/worker.mjs"));

const waiting = [];
const ctx = { waitUntil: promise => waiting.push(promise) };
const fetch = (path, init, env = {}) => worker.fetch(new Request("http://app.example" + path, init), env, ctx);
const goroutines = async () => +(await (await fetch("/state")).text()).split(" ")[0];

// Answers that need no waiting are no promises, and tell nobody to wait.
assert(fetch("/work?id=1") instanceof Response);
assert.equal(waiting.length, 0);

// A header value is bytes, one for each code unit.
const sent = await (await fetch("/echo", { headers: { "x-latin1": "gr\u00fcn", "x-utf8": "gr\u00c3\u00bcn" } })).json();
assert.equal(sent.Header["X-Latin1"][0], "gr\ufffdn"); // FC alone is no UTF-8: JSON shows it as U+FFFD
assert.equal(sent.Header["X-Utf8"][0], "gr\u00fcn");
assert.equal((await fetch("/respond?status=302&h=Location:/gr%FCn")).headers.get("location"), "/gr\u00fcn");
assert.equal((await fetch("/respond?status=302&h=Location:/gr%C3%BCn")).headers.get("location"), "/gr\u00c3\u00bcn");
assert.deepEqual((await fetch("/respond?h=Set-Cookie:a%3D1,2&h=Set-Cookie:b%3D2")).headers.getSetCookie(), ["a=1,2", "b=2"]);

// A body, and the end of work left for after the response.
const body = await (await fetch("/echo", { method: "POST", body: "hello" })).json();
assert.equal(body.Body, 5);
assert.equal((await fetch("/echo", { method: "POST", body: "x".repeat((1 << 20) + 1) })).status, 413);
await (await fetch("/after?url=http://127.0.0.1:1/")).text();
await Promise.all(waiting);

// What a host says of a URL, however it writes it, names no more than the URL's host.
const { calls } = await import(pathToFileURL(process.argv[2] + "/calls.mjs"));
const { fetch: real } = globalThis;
globalThis.fetch = async url => { throw new TypeError(`no answer from ${url} (${new URL(url)})`); };
await assert.rejects(calls.fetch({}, ["GET", "https://IDP.example?key=secret", 1000], "", () => {}),
  { name: "TypeError", message: "no answer from idp.example (idp.example)" });
globalThis.fetch = real;

// Thirty-two requests older than a minute retire the instance; fewer don't.
const booted = await goroutines();
const now = Date.now;
for (let i = 1; i <= 32; i++) {
  fetch("/hang");
  Date.now = () => now() + 61_000;
  assert.equal(await goroutines(), i < 32 ? booted + i : booted, `with ${i} requests stuck`);
  Date.now = now;
}

// So does memory, once it is the host's.
const memory = async () => +(await (await fetch("/state")).text()).split(" ")[1];
await fetch("/grow");
assert(await memory() < 64 << 20, "the instance that grew was not replaced");

// A host without ctx gets answers too, and a program that goes on.
await (await worker.fetch(new Request("http://app.example/after?url=http://127.0.0.1:1/"))).text(); // a host without ctx
assert.equal((await fetch("/work")).status, 200);

// The end of the program, with a timer set, leaves Node alive.
const sleeping = fetch("/sleep?for=1h");
assert.equal((await fetch("/die?how=fatal")).status, 500);
assert.equal((await sleeping).status, 500);
assert.equal((await fetch("/sleep")).status, 200);

// An exclusive instance keeps further requests waiting, but not for ever.
const { setTimeout } = globalThis;
globalThis.setTimeout = (f, ms) => setTimeout(f, ms === 10 ? 0 : ms);
const env = { EDGE_EXCLUSIVE: "1" };
fetch("/hang", {}, env);
const refused = await fetch("/work", {}, env);
assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "1"]);
Date.now = () => now() + 61_000;
assert.equal((await fetch("/work", {}, env)).status, 200, "after a minute another instance takes the place of one that hangs");
Date.now = now;

console.log("ok");
process.exit(); // the requests that hang don't keep it
