// The worker: gives every request to one running program, and that a successor when it is
// retired or dead. Where EDGE_EXCLUSIVE is set, each of so many programs gets one at a time.
import { read } from "./calls.mjs";
import { Program } from "./program.mjs";
export { AuthStore } from "./store.mjs";

const nothing = new Uint8Array(), maxQueued = 10_000;
const refuse = (status, text, headers) => new Response(text + "\n", { status, headers });
let pool = [];

export default {
  fetch(request, env, ctx) {
    if (!request.body) return serve(request, nothing, env, ctx);
    return read(request).then(
      body => body ? serve(request, body, env, ctx) : refuse(413, "Request Entity Too Large"),
      () => refuse(400, "Bad Request"));
  },
};

function serve(request, body, env, ctx) {
  if (env?.EDGE_EXCLUSIVE) return serveExclusively(request, body, env, ctx);
  if (!pool[0] || pool[0].retired()) pool[0] = new Program(env);
  return pool[0].handle(request, body, ctx);
}

async function serveExclusively(request, body, env, ctx) {
  for (let queued = 0; queued < maxQueued; queued += 10) {
    pool = pool.filter(program => !program.retired(1));
    if (pool.length < env.EDGE_EXCLUSIVE && pool.every(program => program.jobs.size)) pool.push(new Program(env));
    const idle = pool.find(program => !program.jobs.size);
    if (idle) return idle.handle(request, body, ctx);
    await new Promise(wake => setTimeout(wake, 10)); // waiting for another request's promise would hang
  }
  return refuse(503, "Service Unavailable", { "Retry-After": "1" });
}
