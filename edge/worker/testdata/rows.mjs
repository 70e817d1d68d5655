// A worker around an object of the class AuthStore that counts the rows which each statement
// reads and writes. GET /fill?to=N puts records in it until there are N of them; GET /insert gives
// the microseconds that one takes, the median of many; GET /count does each operation once and
// gives its rows; GET /alarm lets records end and the alarm go off.
import { AuthStore as Store } from "./store.mjs";

// string, list and the others write what edge/abi describes.
const encoder = new TextEncoder();
const number = (n, size = 4) => Array.from({ length: size }, (_, i) => Math.floor(n / 256 ** i) % 256);
const string = text => [...number(text.length), ...encoder.encode(text)];
const list = (elements, write) => [...number(elements.length), ...elements.flatMap(write)];
const get = (...keys) => list(keys, string);
const write = ([key, value, ref = "", expires = 0]) => [...string(key), ...string(value), ...string(ref), ...number(expires, 8)];
const commit = (checks, writes) => [...list(checks, ([key, version]) => [...string(key), ...string(version)]), ...list(writes, write)];

const value = "x".repeat(300), later = Date.now() + 30 * 86_400_000;

export class AuthStore extends Store {
  constructor(state) {
    let rows = { read: 0, written: 0 };
    const { storage } = state, sql = { exec(statement, ...values) {
      const cursor = storage.sql.exec(statement, ...values), result = cursor.toArray();
      rows.read += cursor.rowsRead;
      rows.written += cursor.rowsWritten;
      return { toArray: () => result };
    } };
    super({ storage: { sql, transactionSync: work => storage.transactionSync(work), setAlarm: at => storage.setAlarm(at) } });
    this.sql = storage.sql;
    this.count = async work => {
      rows = { read: 0, written: 0 };
      await work();
      return rows;
    };
  }

  send(operation, message) {
    return super.fetch(new Request("http://store/" + operation, { method: "POST", body: Uint8Array.from(message) }));
  }

  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    switch (pathname) {
      case "/fill": {
        const [{ n }] = this.sql.exec("SELECT count(*) AS n FROM auth_records").toArray();
        this.sql.exec(`INSERT INTO auth_records WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
          SELECT 'session.' || lower(hex(randomblob(32))), ?, lower(hex(randomblob(16))), 'user.1', ? + i FROM n`,
          searchParams.get("to") - n, value, later).toArray();
        return Response.json(this.sql.exec("SELECT count(*) AS n FROM auth_records").one().n);
      }
      case "/insert": {
        const times = [];
        for (let i = 0; i < 100; i++) {
          const messages = Array.from({ length: 20 }, () => "session." + crypto.randomUUID())
            .map(key => commit([[key, ""]], [[key, value, "user.1", later]]));
          const begin = performance.now();
          for (const message of messages) await this.send("commit", message);
          times.push((performance.now() - begin) / messages.length);
        }
        return Response.json(Math.round(1000 * times.sort((a, b) => a - b)[50]));
      }
      case "/count": return Response.json({
        "first sign-in": await this.count(() => this.send("commit", commit(
          [["user.1", ""], ["address.1", ""], ["account.1", ""]],
          [["user.1", value], ["address.1", value, "user.1"], ["account.1", value, "user.1"], ["session.1", value, "user.1", later]]))),
        "session check": await this.count(() => this.send("get", get("session.1"))),
        "account or address": await this.count(() => this.send("get", get("account.1", "address.1"))),
        "nothing there": await this.count(() => this.send("get", get("session.none"))),
        "a check that fails": await this.count(() => this.send("commit", commit([["user.1", ""]], [["user.1", value]]))),
        "refresh": await this.count(() => this.send("commit", commit([], [["session.1", value, "user.1", later + 1]]))),
        "sign-out": await this.count(() => this.send("commit", commit([], [["session.1", ""], ["user.1", value]]))),
        "a page": await this.count(() => this.send("list", [...string("session."), ...string("session.8")])),
      });
      case "/alarm": {
        this.sql.exec("UPDATE auth_records SET expires = 1 WHERE key IN (SELECT key FROM auth_records WHERE expires IS NOT NULL LIMIT 1500)").toArray();
        return Response.json(await this.count(() => this.alarm()));
      }
    }
    return new Response(null, { status: 404 });
  }
}

export default {
  fetch: (request, { AUTH_DO }) => AUTH_DO.get(AUTH_DO.idFromName("auth")).fetch(request),
};
