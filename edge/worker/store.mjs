// One shard of edge.Atomic: a Durable Object that keeps its records in SQLite. The other side
// is edge/atomic_js.go. An operation is one request and one SQL statement, so nothing comes
// between the steps of one.
const sweepAfter = 60_000; // milliseconds between the end of a record and its removal
const live = "(expires IS NULL OR expires > ?)";
const put = "INSERT INTO records VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, expires = excluded.expires";

export class AuthStore {
  due = Infinity; // the end of the record that the alarm is set for, as far as this instance knows

  constructor({ storage }) {
    this.storage = storage;
    this.rows("CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, value BLOB NOT NULL, expires INTEGER) WITHOUT ROWID");
    this.rows("CREATE INDEX IF NOT EXISTS records_by_expires ON records (expires) WHERE expires IS NOT NULL");
  }

  rows(statement, ...values) { return this.storage.sql.exec(statement, ...values).toArray(); }

  // 200 with the value or the keys, or with nothing; 404 when what the operation needs isn't there.
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url), body = await request.arrayBuffer();
    const query = Object.fromEntries(searchParams), expires = query.expires ? +query.expires : null;
    const rows = this.operate(pathname, query, body, expires, Date.now());
    if (expires !== null) this.schedule();
    return new Response(rows[0]?.value ?? null, { status: rows.length ? 200 : 404 });
  }

  operate(operation, { key, old, prefix, cursor, limit }, body, expires, now) {
    switch (operation) {
      case "/get": return this.rows(`SELECT value FROM records WHERE key = ? AND ${live}`, key, now);
      case "/put": return this.rows(`${put} RETURNING NULL`, key, body, expires);
      case "/delete": this.rows("DELETE FROM records WHERE key = ?", key); return [{}];
      case "/insert": return this.rows(`${put} WHERE expires <= ? RETURNING NULL`, key, body, expires, now);
      case "/take": return this.rows(`DELETE FROM records WHERE key = ? AND ${live} RETURNING value`, key, now);
      case "/swap": // the body is the old value, of so many bytes, and the new one
        return this.rows(`UPDATE records SET value = ?, expires = ? WHERE key = ? AND value = ? AND ${live} RETURNING NULL`,
          body.slice(+old), expires, key, body.slice(0, +old), now);
      case "/list": {
        const rows = this.rows(`SELECT key FROM records WHERE key >= ? AND key < ? AND key > ? AND ${live} ORDER BY key LIMIT ?`,
          prefix, prefix + "\u{10ffff}", cursor, now, +limit);
        return [{ value: JSON.stringify(rows.map(row => row.key)) }];
      }
    }
    throw new Error("AuthStore has no operation " + operation);
  }

  // Sets the alarm for the first end, unless it comes sooner anyway. The platform holds back the
  // response until the alarm and the record are on disk.
  schedule() {
    const [{ first }] = this.rows("SELECT min(expires) AS first FROM records");
    if (first === null || first >= this.due) return;
    this.due = first;
    this.storage.setAlarm(first + sweepAfter);
  }

  alarm() {
    this.due = Infinity;
    this.rows("DELETE FROM records WHERE expires <= ?", Date.now());
    this.schedule();
  }
}
