// edge.Store in a Durable Object, which keeps its records in SQLite. The other side is
// edge/store_js.go.
import { first, operate, schema, sweep } from "./records.mjs";

const sweepAfter = 60_000; // milliseconds between the end of a record and its removal
const sweepMost = 1000; // records that an alarm removes

export class AuthStore {
  due = Infinity; // when the alarm goes off at the latest, as far as this instance knows

  constructor(state) {
    this.state = state;
    this.run(schema);
  }

  // Gives the rows of each statement. They happen as a whole or not at all.
  run(statements) {
    const { storage } = this.state, all = () => statements.map(([text, ...values]) => storage.sql.exec(text, ...values).toArray());
    return statements.length > 1 ? storage.transactionSync(all) : all();
  }

  async fetch(request) {
    const operation = new URL(request.url).pathname.slice(1), message = new Uint8Array(await request.arrayBuffer());
    if (operation === "bookmark" || operation === "restore") return this.travel(operation, new TextDecoder().decode(message));
    const answer = await operate(operation, message, statements => this.run(statements));
    if (operation === "commit") this.schedule();
    return new Response(answer);
  }

  // Gives the bookmark of a time, or brings back the state that a bookmark names. Status 501: there are none.
  async travel(operation, text) {
    const { storage } = this.state;
    try {
      if (operation === "bookmark") return new Response(await (text ? storage.getBookmarkForTime(+text) : storage.getCurrentBookmark()));
      await storage.onNextSessionRestoreBookmark(text);
    } catch (e) {
      if (storage.getCurrentBookmark && !/point-in-time/.test(e.message)) throw e;
      return new Response(null, { status: 501 });
    }
    setTimeout(() => this.state.abort("the store is restored")); // after the answer
    return new Response();
  }

  // Sets the alarm for the first end, unless it comes sooner anyway. The platform holds back the
  // response until the alarm and the records are on disk.
  schedule() {
    const [[{ expires }]] = this.run([first]);
    if (expires === null || expires >= this.due) return;
    this.due = expires;
    this.state.storage.setAlarm(expires + sweepAfter);
  }

  alarm() {
    this.due = Infinity;
    this.run([sweep(sweepMost)]);
    this.schedule();
  }
}
