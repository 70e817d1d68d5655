// The handler, on this site's own origin. Where something in front of the app can do this, a
// route of Workers or a proxy, it should: see core/remote/MOUNTING.md.
import { proxyRequest } from "vinxi/http"
import { edge } from "~/lib/auth.js"

function mounted({ nativeEvent, request }) {
  const { pathname, search } = new URL(request.url)
  return proxyRequest(nativeEvent, edge + pathname + search, { fetchOptions: { redirect: "manual" } })
}

export const GET = mounted
export const POST = mounted
