import { createMiddleware } from "@solidjs/start/middleware"
import { auth } from "./lib/auth.js"

async function guard(event) {
  if (new URL(event.request.url).pathname.startsWith("/account")) {
    const session = await auth.require(event)
    if (session instanceof Response) return session
  }
}

export default createMiddleware({ onRequest: [auth.onRequest, guard] })
