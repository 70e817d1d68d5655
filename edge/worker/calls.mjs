// What the program asks of its host while it handles a request: each function gets the worker's
// environment, lines of text and bytes, and gives a status, lines and bytes. The other side is
// edge/internal/jsx/call_js.go.
import { inD1 } from "./records.mjs";

const maxBody = 1 << 20, nothing = new Uint8Array();
const uncached = "cache" in Request.prototype ? { cache: "no-store" } : {}; // workerd with an older date refuses it
const found = (body, lines = "") => ({ status: 200, lines, body });
const done = found(nothing), missing = { ...done, status: 404 };
const inObjects = new Set(["bookmark", "restore"]), impossible = { ...done, status: 501 }; // a binding of D1 has neither

export const calls = {
  // The whole exchange may take so many milliseconds. The platform's timer ends with it: one that is left keeps the request alive.
  async fetch(env, [method, url, limit, ...fields], body, whenCancelled) {
    const headers = new Headers(), abort = new AbortController();
    for (let i = 0; i < fields.length; i += 2) headers.append(fields[i], fields[i + 1]);
    let isLate = false;
    const timer = setTimeout(() => { isLate = true; abort.abort(); }, limit);
    whenCancelled(() => abort.abort());
    try {
      const init = { method, headers, redirect: "manual", signal: abort.signal, ...uncached };
      if (body.length) init.body = body;
      const response = await fetch(url, init), content = await read(response);
      if (!content) abort.abort();
      if (!content) throw named("BodyTooLarge");
      let lines = "";
      for (const [name, value] of response.headers) lines += name + "\n" + value + "\n";
      return { status: response.status, lines, body: content };
    } catch (e) { throw isLate ? named("TimeoutError") : named(e.name, withoutURL(e.message, url)); } finally { clearTimeout(timer); }
  },

  // For edge.Store: a Durable Object of the class AuthStore, or a D1 database.
  store: (env, [binding, limit, operation, object, locationHint, jurisdiction], message) => within(limit, async () => {
    if (env?.[binding]?.batch) return inObjects.has(operation) ? impossible : found(await inD1(env[binding], operation, message));
    let objects = bound(env, binding, "idFromName");
    if (jurisdiction) objects = objects.jurisdiction(jurisdiction);
    const stub = objects.get(objects.idFromName(object), locationHint ? { locationHint } : {});
    const response = await stub.fetch("http://store/" + operation, { method: "POST", body: message });
    return { status: response.status, lines: "", body: new Uint8Array(await response.arrayBuffer()) };
  }),

  kv: (env, [binding, limit, operation, key, expirationTtl], value) => within(limit, async () => {
    const namespace = bound(env, binding, "put");
    switch (operation) {
      case "get": {
        const value = await namespace.get(key, "arrayBuffer");
        return value ? found(new Uint8Array(value)) : missing;
      }
      case "put": await namespace.put(key, value, expirationTtl ? { expirationTtl: +expirationTtl } : {}); return done;
      case "delete": await namespace.delete(key); return done;
    }
  }),

  wait: (env, [milliseconds], body, whenCancelled) => new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds, done);
    whenCancelled(() => { clearTimeout(timer); resolve(done); });
  }),
};

// failure is what the program learns of an error: a status below 0, the error's name, and its message.
export function failure(e) {
  const isRetryable = e?.retryable === true && !e.overloaded; // what Durable Objects say
  return { status: isRetryable ? -2 : -1, lines: `${e?.name ?? "Error"}\n${e?.message ?? e}`, body: nothing };
}

// read gives the body of a request or a response, or null when it is too large. One that is known
// to be small needs no stream, which costs more than all else here.
export async function read(message) {
  if (!message.body) return nothing;
  const length = message.headers.get("Content-Length"), chunks = [];
  const isSmall = length !== null && +length <= maxBody && !message.headers.has("Content-Encoding");
  if (isSmall) return new Uint8Array(await message.arrayBuffer());
  let size = 0;
  for await (const chunk of message.body) if ((size += chunk.length) > maxBody) return null; else chunks.push(chunk);
  const body = new Uint8Array(size);
  for (const chunk of chunks.reverse()) body.set(chunk, size -= chunk.length);
  return body;
}

// An answer that takes more milliseconds is not waited for: what was asked may have happened.
async function within(limit, work) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(named("TimeoutError")), limit); });
  try { return await Promise.race([work(), late]); } finally { clearTimeout(timer); }
}

const named = (name, message = name) => Object.assign(new Error(message), { name });

// The host alone may be in an error: the rest of a URL may hold what belongs in no log.
function withoutURL(message, url) {
  const { href, host } = new URL(url);
  return message.replaceAll(url, host).replaceAll(href, host);
}

function bound(env, binding, method) {
  if (typeof env?.[binding]?.[method] === "function") return env[binding];
  throw named("BindingError");
}
