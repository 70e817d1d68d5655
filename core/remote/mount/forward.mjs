const edge = "https://edge.example"

// What belongs to one connection, and what a visitor may have made up.
const own = ["host", "connection", "keep-alive", "transfer-encoding", "content-length", "expect", "upgrade", "te", "forwarded"]

// Answers a request under /auth with what the edge answers. In SvelteKit,
// src/routes/auth/[...path]/+server.js:
//
//     import { forward } from "$lib/server/forward.mjs"
//     export const fallback = ({ request }) => forward(request)
export async function forward(request) {
  const { host, protocol, pathname, search } = new URL(request.url)
  const headers = new Headers(request.headers)
  for (const name of own) headers.delete(name)
  headers.set("x-forwarded-host", host)
  headers.set("x-forwarded-proto", protocol.slice(0, -1))
  const { method, body } = request
  const response = await fetch(edge + pathname + search, { method, headers, body, duplex: "half", redirect: "manual" })
  const copy = new Headers(response.headers) // each Set-Cookie stays one
  for (const name of ["content-encoding", "content-length", "transfer-encoding", "connection"]) copy.delete(name)
  return new Response(response.body, { status: response.status, headers: copy })
}
