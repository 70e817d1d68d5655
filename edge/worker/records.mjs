// The records of edge.Store in SQLite, that of a Durable Object (store.mjs) or D1: answers the
// Get, Commit and List of edge/abi. Each is one batch of statements, which run as a whole or not
// at all, and none of which reads a row that it isn't about. Values are text where they can be,
// for people who look at the table, and bytes otherwise.
const table = "auth_records", pageSize = 200; // records of up to 64 KiB
const live = record => `(${record}.expires IS NULL OR ${record}.expires > ?)`;

export const schema = [
  [`CREATE TABLE IF NOT EXISTS ${table} (key TEXT PRIMARY KEY CONSTRAINT as_checked CHECK (key <> ''),
    value BLOB NOT NULL, version TEXT NOT NULL, ref TEXT, expires INTEGER)`],
  [`CREATE INDEX IF NOT EXISTS ${table}_by_expires ON ${table} (expires) WHERE expires IS NOT NULL`],
];

const get = `SELECT r.key, r.value, r.version, u.key AS refKey, u.value AS refValue, u.version AS refVersion
  FROM json_each(?) AS k CROSS JOIN ${table} AS r ON r.key = k.value AND ${live("r")}
  LEFT JOIN ${table} AS u ON u.key = r.ref AND ${live("u")}`;
// Fails by the constraint if the version of a key is another than it must be.
const check = `INSERT INTO ${table} (key, value, version) SELECT '', '', '' FROM json_each(?) AS c
  LEFT JOIN ${table} AS r ON r.key = c.value ->> 0 AND ${live("r")} WHERE coalesce(version, '') <> c.value ->> 1`;
const put = `INSERT INTO ${table} VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  value = excluded.value, version = excluded.version, ref = excluded.ref, expires = excluded.expires`;
const remove = `DELETE FROM ${table} WHERE key IN (SELECT value FROM json_each(?))`;
const list = `SELECT key, value, ref, expires FROM ${table} WHERE key >= ? AND key < ? ORDER BY key LIMIT ${pageSize}`;
/** Removes some of the records that have expired. */
export const sweep = most =>
  [`DELETE FROM ${table} WHERE key IN (SELECT key FROM ${table} WHERE expires <= ? LIMIT ?)`, Date.now(), most];
/** Gives when the first of them expires. */
export const first = [`SELECT min(expires) AS expires FROM ${table} WHERE expires IS NOT NULL`];

/** Gives the answer to a message. run gives, or promises, the rows of each statement, with the values for it. */
export async function operate(operation, message, run) {
  const now = Date.now(), from = new Reader(message), to = new Writer();
  switch (operation) {
    case "get": {
      const keys = from.list(() => from.text());
      from.end();
      const [rows] = await run([[get, JSON.stringify(keys), now, now]]), found = new Map(), referred = new Map();
      for (const row of rows) {
        found.set(row.key, row);
        if (row.refKey !== null) referred.set(row.refKey, { key: row.refKey, value: row.refValue, version: row.refVersion });
      }
      for (const key of keys) referred.delete(key);
      to.list([...keys.map(key => found.get(key) ?? { key, value: "", version: "" }), ...referred.values()],
        ({ key, value, version }) => to.text(key).bytes(value).text(version));
      break;
    }
    case "commit": {
      const checks = from.list(() => [from.text(), from.text()]);
      const writes = from.list(() => ({ key: from.text(), value: from.value(), ref: from.text(), expires: from.number64() }));
      from.end();
      const version = crypto.randomUUID(); // a counter would be one more row to write, and come back when a backup is restored
      const isGone = ({ value }) => value.length === 0, gone = writes.filter(isGone).map(({ key }) => key);
      const statements = writes.filter(w => !isGone(w)).map(w => [put, w.key, w.value, version, w.ref || null, w.expires || null]);
      if (gone.length) statements.unshift([remove, JSON.stringify(gone)]);
      if (checks.length) statements.unshift([check, JSON.stringify(checks), now]);
      try { if (statements.length) await run(statements); to.flag(true); }
      catch (e) { if (!`${e?.message}`.includes("as_checked")) throw e; to.flag(false); }
      break;
    }
    case "list": {
      const prefix = from.text(), cursor = from.text();
      from.end();
      const start = cursor ? cursor + " " : prefix; // no key comes between one and the same with a space
      const [rows] = await run([[list, start, prefix + "\x7f"]]);
      to.list(rows.filter(({ expires }) => expires === null || expires > now),
        ({ key, value, ref, expires }) => to.text(key).bytes(value).text(ref ?? "").number64(expires ?? 0));
      to.text(rows.length === pageSize ? rows.at(-1).key : "");
      break;
    }
    default: throw new Error("there is no operation " + operation);
  }
  return to.message();
}

/** Gives the answer of a D1 database, whose table is made when it is missing. */
export function inD1(db, operation, message) {
  const batch = async statements => {
    const results = await db.batch(statements.map(([text, ...values]) => db.prepare(text).bind(...values)));
    return results.map(({ results }) => results);
  };
  return operate(operation, message, async statements => {
    const all = operation === "commit" ? [...statements, sweep(10)] : statements;
    try { return await batch(all); } catch (e) { if (!`${e?.message}`.includes("no such table")) throw e; }
    await batch(schema);
    return batch(all);
  });
}

const encoder = new TextEncoder(), decoder = new TextDecoder(), strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

class Reader {
  at = 0;
  constructor(bytes) { this.all = bytes; this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength); }
  number() { return this.view.getUint32((this.at += 4) - 4, true); } // throws past the end
  number64() { return Number(this.view.getBigUint64((this.at += 8) - 8, true)); }
  bytes() {
    const length = this.number(), start = this.at;
    if ((this.at += length) > this.all.length) throw new RangeError("malformed message");
    return this.all.subarray(start, this.at);
  }
  text() { return decoder.decode(this.bytes()); }
  value() {
    const bytes = this.bytes();
    try { return bytes.includes(0) ? bytes.slice() : strict.decode(bytes); } catch { return bytes.slice(); }
  }
  list(element) { return Array.from({ length: Math.min(this.number(), this.all.length) }, element); }
  end() { if (this.at !== this.all.length) throw new RangeError("malformed message"); }
}

class Writer {
  parts = [];
  length = 0;
  add(part) { this.parts.push(part); this.length += part.length; return this; }
  number(n) { return this.add(new Uint8Array(new Uint32Array([n]).buffer)); } // little-endian, as every host is
  number64(n) { return this.add(new Uint8Array(new BigUint64Array([BigInt(n)]).buffer)); }
  bytes(value) {
    const bytes = typeof value === "string" ? encoder.encode(value) : new Uint8Array(value); // D1 gives an array of numbers
    return this.number(bytes.length).add(bytes);
  }
  text(text) { return this.bytes(text); }
  flag(flag) { return this.add(Uint8Array.of(+flag)); }
  list(elements, write) { this.number(elements.length); elements.forEach(write); return this; }
  message() {
    const all = new Uint8Array(this.length);
    let at = 0;
    for (const part of this.parts) { all.set(part, at); at += part.length; }
    return all;
  }
}
