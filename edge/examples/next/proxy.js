import { NextResponse } from "next/server"
import { auth, origin } from "./lib/auth.js"

export const config = { matcher: "/account/:path*" }

export async function proxy(request) {
  const session = await auth.require(request)
  if (!(session instanceof Response)) return auth.complete(request, NextResponse.next())
  const location = session.headers.get("location")
  if (location) session.headers.set("location", new URL(location, origin)) // Next.js wants all of it
  return session
}
