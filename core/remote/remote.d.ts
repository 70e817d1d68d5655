/**
 * Who is signed in to an app whose authentication handler runs at the edge, on a path of the app's
 * own origin or on a subdomain. For SvelteKit, SolidStart and every server that speaks Request and
 * Response: Node 20, Workers, Deno, Bun. One file, no dependencies. The Go package of this folder
 * is the same for back ends in Go, and its comment says what happens when something is wrong.
 *
 * SvelteKit, src/hooks.server.js:
 *
 *     import { sequence } from "@sveltejs/kit/hooks"
 *     import { edgeAuth } from "$lib/server/remote.mjs"
 *
 *     const auth = edgeAuth({ url: "https://app.example/auth" })
 *
 *     async function guard({ event, resolve }) {
 *       if (event.url.pathname.startsWith("/account")) {
 *         const session = await auth.require(event)
 *         if (session instanceof Response) return session
 *       }
 *       return resolve(event)
 *     }
 *
 *     export const handle = sequence(auth.handle, guard)
 *
 * In loaders and actions: `await event.locals.auth()`.
 *
 * SolidStart, src/middleware.js:
 *
 *     import { createMiddleware } from "@solidjs/start/middleware"
 *     import { edgeAuth } from "./remote.mjs"
 *
 *     const auth = edgeAuth({ url: "https://app.example/auth" })
 *
 *     export default createMiddleware({ onRequest: auth.onRequest })
 *
 * Anything else:
 *
 *     const session = await auth.require(request)
 *     if (session instanceof Response) return session
 *     return auth.complete(request, new Response(`Hello, ${session.user.name}`))
 */
export function edgeAuth(options: EdgeAuthOptions): EdgeAuth

export interface EdgeAuthOptions {
  /** The handler's public address with its base path, as browsers see it: "https://app.example/auth". */
  url: string
  /** The app's own public origin, if the handler's is another one. */
  origin?: string
  /**
   * Where this server reaches the handler, base path included, if not at `url`. The public address
   * is sent along as X-Forwarded-Host and -Proto, for a handler without AUTH_URL.
   */
  internalUrl?: string
  /**
   * The edge's AUTH_SECRET, several with the newest first, to read session tokens here, without
   * any exchange: for the jwt strategy. Without it the edge is asked.
   */
  secret?: string | readonly string[]
  /** Makes the session of a token read with `secret`; by default name, e-mail and picture. */
  fromToken?: (claims: Record<string, unknown>, session: Session) => Session | undefined | Promise<Session | undefined>
  /** The session cookie's name, with its prefix if it has one. Default: the handler's for the scheme of `url`. */
  cookieName?: string
  /** Where people sign in: a path of this app, or a URL. Default: the handler's page. */
  signInPage?: string
  /**
   * Carries the questions to the edge; default: the global fetch. On Workers, whose fetch for their
   * own zone doesn't reach other workers of it, a service binding:
   * `(url, init) => env.AUTH.fetch(url, init)`.
   */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Seconds that a question may take. Default: 3. */
  timeout?: number
  /**
   * Seconds for which an answer counts, at most: never beyond the session's end. It is how much
   * longer a session lives here that was ended elsewhere. Default: 5; 0: every request asks.
   */
  cacheFor?: number
  /** How many answers are kept. Default: 1000. */
  cacheEntries?: number
  /** Is told of what should be put right, with the fix. Default: the console. */
  onWarning?: (code: "clock" | "signin-loop", fix: string) => void
}

export interface EdgeAuth {
  /**
   * The session of a request, null when nobody is signed in. It rejects with an EdgeAuthError when
   * that is not known: nobody must be let in for it, and nobody told that they are signed out. It
   * is found out once for a request object.
   */
  session(request: Request): Promise<Session | null>
  /**
   * Protects a page or an API: the session of somebody who is signed in, or the response to give:
   * 303 to the sign-in page for a page load, 401 with JSON for everything else, 503 or 500 when it
   * is not known who is signed in.
   */
  require(target: Target): Promise<(Session & { user: User }) | Response>
  /**
   * The response with the edge's refreshed cookies, and with what keeps it out of shared caches, if
   * the session of the request was asked for. `handle` does it itself.
   */
  complete(request: Request, response: Response): Response
  /** The sign-in page's URL, with the way back to this page as callbackUrl. */
  signInUrl(target: Target): string
  /** SvelteKit's hook: gives every event `locals.auth()`. */
  handle<E extends { request: Request; locals: object }>(input: {
    event: E
    resolve: (event: E) => Response | Promise<Response>
  }): Promise<Response>
  /**
   * SolidStart's middleware: gives every event `locals.auth()`. Asking sets the headers of
   * `event.response`, so ask before the response begins.
   */
  onRequest(event: { request: Request; locals: object; response: { headers: Headers } }): void
}

/** A request, or the event of SvelteKit or SolidStart that has one. */
export type Target = Request | { request: Request; url?: URL; isDataRequest?: boolean }

export interface User {
  id?: string
  name?: string | null
  email?: string | null
  image?: string | null
}

export interface Session {
  user?: User | null
  /** ISO 8601. */
  expires: string
}

/** Why it is not known who is signed in. Its text has no cookie and no secret in it. */
export class EdgeAuthError extends Error {
  readonly kind:
    | "InvalidConfig" // thrown by edgeAuth
    | "EdgeDown" // no connection, a cut one, status 429 or 5xx
    | "EdgeSlow" // no whole answer in time
    | "EdgeAnswer" // an answer that is neither a session nor "signed out"
    | "SecretMismatch" // the token can't be read with the secret
    | "NotMounted" // a request for the edge's own routes has come here
}
