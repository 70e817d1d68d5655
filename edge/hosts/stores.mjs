// What stands behind AUTH_DO and AUTH_KV where the platform has neither: each Durable Object is
// an SQLite file of its own in a folder, or in memory without one, and Workers KV is one more
// of them. A write is on disk before it is answered; several processes may share a folder. One
// file carries some hundred commits a second, as fast as the disk confirms them.
import { closeSync, mkdirSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

const latest = 2 ** 31 - 1; // the longest that a timer waits, in milliseconds

/** The bindings for a program whose store.mjs exports the class AuthStore. */
export function stores(AuthStore, folder) {
  if (folder) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const files = new Map();
  const database = name => {
    if (files.has(name)) return files.get(name);
    const path = folder ? `${folder}/${encodeURIComponent(name)}.sqlite` : ":memory:";
    if (folder) closeSync(openSync(path, "a", 0o600)); // who reads it reads everybody's tokens
    const db = new DatabaseSync(path);
    db.exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    files.set(name, db);
    return db;
  };
  const objects = new Map();
  const open = name => {
    const db = database("store-" + name), prepared = new Map();
    const prepare = text => prepared.get(text) ?? prepared.set(text, db.prepare(text)).get(text);
    let timer;
    const alarm = () => {
      try { object.alarm(); } catch (e) { // the file is busy, or the disk full
        console.error("edge: removing what has expired failed, and is tried again:", e);
        object.state.storage.setAlarm(Date.now() + 60_000);
      }
    };
    const object = new AuthStore({ storage: {
      sql: { exec: (statement, ...values) => ({ toArray: () => prepare(statement).all(...values) }) },
      transactionSync(work) {
        db.exec("BEGIN IMMEDIATE");
        try { const result = work(); db.exec("COMMIT"); return result; } catch (e) {
          try { db.exec("ROLLBACK"); } catch { /* it has been, by itself */ }
          throw e;
        }
      },
      setAlarm(at) {
        clearTimeout(timer);
        timer = setTimeout(alarm, Math.min(Math.max(at - Date.now(), 0), latest));
        timer.unref(); // it keeps no process alive
      },
    } });
    alarm(); // what ended while nothing ran
    objects.set(name, object);
    return object;
  };
  const get = name => {
    const object = objects.get(name) ?? open(name);
    return { fetch: (url, init) => object.fetch(new Request(url, init)) };
  };
  return { AUTH_DO: { idFromName: name => name, get, jurisdiction() { return this; } }, AUTH_KV: kv(database("kv")) };
}

function kv(db) {
  db.exec("CREATE TABLE IF NOT EXISTS copies (key TEXT PRIMARY KEY, value BLOB NOT NULL, expires INTEGER NOT NULL)");
  db.exec("CREATE INDEX IF NOT EXISTS copies_by_expires ON copies (expires)");
  const run = (statement, ...values) => db.prepare(statement).all(...values);
  return {
    get: async key => run("SELECT value FROM copies WHERE key = ? AND expires > ?", key, Date.now())[0]?.value,
    delete: async key => { run("DELETE FROM copies WHERE key = ?", key); },
    async put(key, value, { expirationTtl = 1e9 }) {
      run("DELETE FROM copies WHERE expires <= ?", Date.now());
      run("REPLACE INTO copies VALUES (?, ?, ?)", key, value, Date.now() + 1000 * expirationTtl);
    },
  };
}
