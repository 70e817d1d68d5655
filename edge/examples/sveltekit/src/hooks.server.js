import { sequence } from "@sveltejs/kit/hooks"
import { auth } from "$lib/server/auth.js"

// By path, and not in a layout's loader, which doesn't run for each of its pages.
async function guard({ event, resolve }) {
  if (event.url.pathname.startsWith("/account")) {
    const session = await auth.require(event)
    if (session instanceof Response) return session
  }
  return resolve(event)
}

export const handle = sequence(auth.handle, guard)
