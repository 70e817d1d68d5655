// The worker, with FLAKY bound to a Durable Object namespace whose objects throw. The name of
// an object says how often and what: "TIMES:retryable,overloaded". GET /attempts?of=OPERATION
// gives how often it got to each object. Of HANGING_DO, HANGING_DB and HANGING_KV no call has an
// answer. Ten seconds, the time that a call may take, are a tenth of one; GET /waited gives
// how many timers there were for it.
import worker from "./worker.mjs";
export { AuthStore } from "./store.mjs";

const { setTimeout } = globalThis;
let waited = 0;
globalThis.setTimeout = (f, ms, ...rest) => setTimeout(f, ms === "10000" ? (waited++, 100) : ms, ...rest);

const attempts = {};
const answers = { // to one key, k, which is absent
  get: Uint8Array.of(1, 0, 0, 0, 1, 0, 0, 0, 107, 0, 0, 0, 0, 0, 0, 0, 0),
  commit: Uint8Array.of(1),
  list: new Uint8Array(8),
};

class Stub {
  constructor(name) { this.name = name; }

  async fetch(url) {
    const operation = new URL(url).pathname.slice(1), of = attempts[operation] ??= {}, [times, flags] = this.name.split(":");
    const n = of[this.name] = (of[this.name] ?? 0) + 1;
    if (this.broken) throw this.broken; // for good, as the platform's are
    if (n > times) return new Response(answers[operation]);
    this.broken = new Error("thrown by the object");
    for (const flag of flags.split(",")) this.broken[flag] = true;
    throw this.broken;
  }
}

const never = () => new Promise(() => {});
const more = {
  FLAKY: { idFromName: name => name, get: id => new Stub(id) },
  HANGING_DO: { idFromName: name => name, get: () => ({ fetch: never }) },
  HANGING_DB: { prepare: () => ({ bind: () => null }), batch: never },
  HANGING_KV: { get: never, put: never, delete: never },
};

export default {
  fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/attempts") return Response.json(attempts[searchParams.get("of")] ?? {});
    if (pathname === "/waited") return Response.json(waited);
    return worker.fetch(request, { ...env, ...more }, ctx);
  },
};
