// An app of its own has a copy of remote.mjs in this folder.
import { headers } from "next/headers"
import { edgeAuth } from "../../../../core/remote/remote.mjs"

export const origin = process.env.ORIGIN ?? "http://localhost:3000"

export const auth = edgeAuth({
  url: `${origin}/api/auth`,
  internalUrl: `${process.env.EDGE_URL ?? "http://127.0.0.1:8787"}/api/auth`,
})

/** The session, on the server. Undefined is neither signed in nor signed out: it can't be found out. */
export async function getServerSession() {
  return auth.session(new Request(origin, { headers: await headers() })).catch(() => undefined)
}
