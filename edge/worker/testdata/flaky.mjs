// The worker, with FLAKY bound to a Durable Object namespace whose objects throw. What is
// asked for, a key or a prefix, says how often and what: "TIMES:retryable,overloaded".
// GET /attempts?of=OPERATION gives how often it got to an object, for each object and key.
import worker from "./worker.mjs";
export { AuthStore } from "./store.mjs";

const attempts = {};

class Stub {
  constructor(object) { this.object = object; }

  async fetch(url) {
    const { pathname, searchParams } = new URL(url), of = attempts[pathname.slice(1)] ??= {};
    const key = searchParams.get("key") ?? searchParams.get("prefix"), [times, flags] = key.split(":");
    const n = of[`${this.object} ${key}`] = (of[`${this.object} ${key}`] ?? 0) + 1;
    if (this.broken) throw this.broken; // for good, as the platform's are
    if (n > times) return pathname === "/list" ? Response.json([]) : new Response("value");
    this.broken = new Error("thrown by the object");
    for (const flag of flags.split(",")) this.broken[flag] = true;
    throw this.broken;
  }
}

const FLAKY = { idFromName: name => name, get: id => new Stub(id) };

export default {
  fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/attempts") return Response.json(attempts[searchParams.get("of")] ?? {});
    return worker.fetch(request, { ...env, FLAKY }, ctx);
  },
};
