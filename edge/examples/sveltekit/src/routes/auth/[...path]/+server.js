// The handler, on this site's own origin. Where something in front of the app can do this, a
// route of Workers or a proxy, it should: see core/remote/MOUNTING.md.
import { edge } from "$lib/server/auth.js"

// What belongs to one connection, and what a visitor may have made up.
const dropped = ["host", "connection", "content-length", "transfer-encoding", "forwarded", "x-forwarded-host", "x-forwarded-proto"]

export async function fallback({ request, url }) {
  const headers = new Headers(request.headers)
  for (const name of dropped) headers.delete(name)
  const { method, body } = request
  const answer = await fetch(edge + url.pathname + url.search, { method, headers, body, duplex: "half", redirect: "manual" }).catch(() => null)
  if (!answer) return new Response("The handler can't be reached.", { status: 502 })
  const copy = new Headers(answer.headers) // each Set-Cookie stays one
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) copy.delete(name)
  return new Response(answer.body, { status: answer.status, headers: copy })
}
