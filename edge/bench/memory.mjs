// The worker, with a question more: GET /memory answers the size of its program's memory in bytes. A
// WebAssembly memory never shrinks, so that is the most there ever was.
import worker from "./worker.mjs"
import { Program } from "./program.mjs"
export { AuthStore } from "./store.mjs"

const { handle } = Program.prototype
let program
Program.prototype.handle = function (...request) {
  program = this
  return handle.apply(this, request)
}

export default {
  fetch(request, env, ctx) {
    if (new URL(request.url).pathname === "/memory") return new Response(program?.exports.mem.buffer.byteLength ?? 0)
    return worker.fetch(request, env, ctx)
  },
}
