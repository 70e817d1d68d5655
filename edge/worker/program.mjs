// A running Go program that called edge.Serve: starts it, passes requests in and responses
// out, and notices its end. The other side is edge/internal/jsx.
import "./wasm_exec.js";
import module from "./app.wasm";
import { calls, failure } from "./calls.mjs";

const maxMemory = 64 << 20, maxStuck = 32, stuckAfter = 60_000;
const encoder = new TextEncoder(), decoder = new TextDecoder();

export class Program {
  jobs = new Map(); // the requests it has not finished, by number, oldest first
  last = 0;
  pending = new Map(); // what cancels the calls it waits for, by number, where they can be
  constructor(env) {
    const go = this.go = new Go(), resume = go._resume;
    go._resume = () => { try { this.dead || resume.call(go); } catch (e) { this.die(e); } };
    go.exit = code => this.die(`exit code ${code}`);
    go.importObject.edge = {
      serve: () => { this.ready = true; return +(globalThis.navigator?.userAgent === "Cloudflare-Workers"); },
      respond: (id, status, head, headLen, body, bodyLen, lasting) => {
        const job = this.jobs.get(id);
        job.settle({ status, head: this.text(head, headLen), body: bodyLen ? this.bytes(body, bodyLen) : null });
        if (!lasting) return void this.jobs.delete(id);
        const finished = new Promise(resolve => { job.finish = resolve; });
        job.ctx?.waitUntil?.(finished);
        setTimeout(() => this.enter(exports => exports.edge_after(id)));
      },
      call: (id, head, headLen, body, bodyLen) => {
        const [name, ...lines] = this.text(head, headLen).split("\n"), bytes = this.bytes(body, bodyLen);
        calls[name](env, lines, bytes, cancel => this.pending.set(id, cancel)).catch(failure).then(({ status, lines, body }) => {
          this.pending.delete(id);
          this.enter(exports => exports.edge_settle(id, status, this.write(lines, body), body.length));
        });
      },
      cancel: id => this.pending.get(id)?.(),
      finish: id => { this.jobs.get(id).finish(); this.jobs.delete(id); },
    };
    globalThis.context = { env, binding: {} }; // github.com/syumai/workers reads it as it starts
    const instance = new WebAssembly.Instance(module, go.importObject);
    this.exports = instance.exports;
    go.run(instance).catch(e => this.die(e));
    if (!this.ready) this.die("it did not get as far as edge.Serve");
  }

  text(at, length) { return decoder.decode(new Uint8Array(this.exports.mem.buffer, at, length)); }

  bytes(at, length) { return new Uint8Array(this.exports.mem.buffer).slice(at, at + length); }

  write(text, bytes) { // into the program's buffer; gives the length of the text there
    const at = this.exports.edge_buffer(text.length * 3 + bytes.length), memory = new Uint8Array(this.exports.mem.buffer);
    const { written } = encoder.encodeInto(text, memory.subarray(at));
    if (bytes.length) memory.set(bytes, at + written);
    return written;
  }

  enter(call) { try { this.dead || call(this.exports); } catch (e) { this.die(e); } this.go._resume(); }

  die(why) {
    if (this.dead) return;
    console.error("edge: the program has ended:", this.dead = why);
    for (const timer of this.go._scheduledTimeouts.values()) clearTimeout(timer);
    this.go._scheduledTimeouts.clear(); // wasm_exec.js would wait for one of them in a loop
    for (const job of this.jobs.values()) { job.settle(null); job.finish?.(); }
  }

  retired(limit = maxStuck) { // true once it should get no more requests
    let stuck = 0;
    for (const { since } of this.jobs.values()) if (Date.now() - since < stuckAfter || ++stuck === limit) break;
    return this.dead || stuck === limit || this.exports.mem.buffer.byteLength > maxMemory;
  }

  handle(request, body, ctx) {
    const id = this.last = this.last + 1 | 0;
    const job = { ctx, since: Date.now(), settle(reply) { job.reply ??= reply; job.resolve?.(job.reply); } };
    this.jobs.set(id, job);
    let head = request.method + "\n" + request.url + "\n";
    for (const [name, value] of request.headers) head += name + "\n" + value + "\n";
    this.enter(exports => exports.edge_request(id, this.write(head, body), body.length));
    if (this.dead || job.reply) return answer(job.reply);
    const pending = new Promise(resolve => { job.resolve = resolve; });
    ctx?.waitUntil?.(pending); // a client that leaves does not stop its request half-way
    return pending.then(answer);
  }
}

function answer(reply) { // null when the program ended without one
  if (reply) try {
    const lines = reply.head.split("\n"), isEncoded = lines.includes("Content-Encoding");
    const encodeBody = isEncoded ? "manual" : "automatic"; // or workerd compresses it again
    const response = new Response(reply.body, { status: reply.status, encodeBody });
    for (let i = 1; i < lines.length; i += 2) response.headers.append(lines[i - 1], lines[i]);
    return response;
  } catch (e) { console.error("edge: the host refused a response:", e); }
  return new Response("Internal Server Error\n", { status: 500 });
}
