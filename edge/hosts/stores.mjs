// What stands behind AUTH_DO and AUTH_KV where the platform has neither: each Durable Object is
// an SQLite file of its own in a folder, or in memory without one, and Workers KV is one more
// of them. A write is on disk before it is answered; several processes may share a folder.
import { mkdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

const blob = value => value instanceof ArrayBuffer ? new Uint8Array(value) : value;
const latest = 2 ** 31 - 1; // the longest that a timer waits, in milliseconds

/** The bindings for a program whose store.mjs exports the class AuthStore. */
export function stores(AuthStore, folder) {
  if (folder) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const objects = new Map();
  const open = name => {
    const db = new DatabaseSync(folder ? `${folder}/${name}.sqlite` : ":memory:");
    db.exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    let timer;
    const object = new AuthStore({ storage: {
      sql: { exec: (statement, ...values) => ({ toArray: () => db.prepare(statement).all(...values.map(blob)) }) },
      setAlarm(at) {
        clearTimeout(timer);
        timer = setTimeout(() => object.alarm(), Math.min(Math.max(at - Date.now(), 0), latest));
        timer.unref(); // it keeps no process alive
      },
    } });
    object.alarm(); // what ended while nothing ran
    objects.set(name, object);
    return object;
  };
  const get = name => {
    const object = objects.get(name) ?? open(name);
    return { fetch: (url, init) => object.fetch(new Request(url, init)) };
  };
  return { AUTH_DO: { idFromName: name => name, get }, AUTH_KV: kv(get("kv")) };
}

function kv(object) {
  const call = async (operation, query, body) => {
    const answer = await object.fetch(`http://store/${operation}?${new URLSearchParams(query)}`, { method: "POST", body });
    return answer.ok ? answer.arrayBuffer() : null;
  };
  return {
    get: key => call("get", { key }),
    delete: key => call("delete", { key }),
    put: (key, value, { expirationTtl: ttl }) => call("put", ttl ? { key, expires: Date.now() + 1000 * ttl } : { key }, value),
    async list({ prefix, cursor = "" }) {
      const limit = 1000, names = JSON.parse(new TextDecoder().decode(await call("list", { prefix, cursor, limit })));
      return { keys: names.map(name => ({ name })), list_complete: names.length < limit, cursor: names.at(-1) };
    },
  };
}
