// What a typed app writes, and what it can't.
import { edgeAuth, EdgeAuthError, type EdgeAuth, type Session } from "remote.mjs"

const auth: EdgeAuth = edgeAuth({
  url: "https://app.example/auth",
  secret: ["new", "old"],
  fromToken: async (claims, session) => ({ ...session, user: { ...session.user, id: String(claims.sub) } }),
  fetch: (url, init) => fetch(url, init),
})

// @ts-expect-error the address has no default
edgeAuth({})
// @ts-expect-error no number of milliseconds as text
edgeAuth({ url: "https://app.example/auth", timeout: "3s" })

export async function page(request: Request): Promise<Response> {
  const session = await auth.require(request)
  if (session instanceof Response) return session
  const name: string | null | undefined = session.user.name
  // @ts-expect-error name is no number
  const wrong: number = session.user.name
  return auth.complete(request, new Response(`${name} ${wrong} ${auth.signInUrl(request)}`))
}

export async function greet(request: Request): Promise<string> {
  try {
    const session: Session | null = await auth.session(request)
    // @ts-expect-error who is signed out has no name
    return session.user.name
  } catch (error) {
    if (error instanceof EdgeAuthError && error.kind === "EdgeDown") return "somebody"
    // @ts-expect-error there is no such kind
    if (error instanceof EdgeAuthError && error.kind === "Down") return "nobody"
    throw error
  }
}

// The shapes of SvelteKit and SolidStart, of which these files need no more.
interface KitEvent {
  request: Request
  url: URL
  isDataRequest: boolean
  locals: { auth(): Promise<Session | null> }
}

export const handle: (input: { event: KitEvent; resolve: (event: KitEvent) => Response | Promise<Response> }) => Response | Promise<Response> =
  auth.handle
export const guarded = (event: KitEvent) => auth.require(event)
export const onRequest: (event: { request: Request; locals: Record<string, unknown>; response: { headers: Headers } }) => void = auth.onRequest
