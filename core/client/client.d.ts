/**
 * The browser's side of the handler, served by it as `client.mjs` under its base path:
 *
 * ```js
 * import { getSession, signIn } from "/auth/client.mjs"
 * ```
 *
 * It needs no build and no configuration: it talks to where it came from. In TypeScript, keep
 * this file, which is served beside it, in the project and name it in tsconfig.json:
 * `"paths": { "/auth/client.mjs": ["./auth-client.d.ts"] }`.
 *
 * The functions are those of next-auth/react and @auth/sveltekit/client, with one difference
 * throughout: **not knowing is not being signed out.** A session of `null` means that the
 * handler said so. When it can't be asked, or can't look the session up (503), functions
 * reject with an {@link AuthError}, and subscribers keep what they had.
 *
 * For browsers since April 2023. Importing it where there is no document does nothing.
 *
 * Two elements are for pages without a framework. Both have a button of their own,
 * `::part(button)`, or act for the link, button or form that is put inside of them, which then
 * also works without scripts:
 *
 * ```html
 * <script type="module" src="/auth/client.mjs"></script>
 * <auth-sign-in provider="github" callback-url="/home">Sign in with GitHub</auth-sign-in>
 * <auth-sign-in provider="github"><a href="/auth/signin">Sign in</a></auth-sign-in>
 * <auth-sign-in provider="email">
 *   <form method="post" action="/auth/signin/email"><input type="email" name="email" /> <button>Send a link</button></form>
 * </auth-sign-in>
 * <auth-sign-out><form method="post" action="/auth/signout"><button>Sign out</button></form></auth-sign-out>
 * ```
 *
 * Attributes: `provider`, without which the sign-in page is shown, and
 * `authorization-params`, a query string, of `auth-sign-in`; `callback-url` of both. Providers
 * of the credentials and email types take the fields of the form inside, whose method must be
 * post, lest a browser without scripts puts a password into the URL. While it works an element
 * has `aria-busy`. When it fails, it fires a bubbling `auth-error`, whose detail is the error;
 * unless a listener calls `preventDefault()`, it then does what it would have done without
 * scripts: the link or form is followed, or the handler's own page is opened.
 */

/** Why the handler could not be asked, or what it refused. Signed out is no error. */
export class AuthError extends Error {
  constructor(message: string, options?: { status?: number; code?: string; cause?: unknown })
  /** The HTTP status of the answer; 0: there was none. */
  readonly status: number
  /** The handler's error, such as `"MissingCSRF"` when the browser keeps no cookies; mostly undefined. */
  readonly code: string | undefined
}

/** What the app lets a client see of the session. Extend it by declaration merging. */
export interface Session {
  user?: SessionUser
  /** When the session ends unless it is read again, as an ISO 8601 date. */
  expires: string
  [member: string]: unknown
}

export interface SessionUser {
  id?: string
  name?: string | null
  email?: string | null
  image?: string | null
  [member: string]: unknown
}

export interface Provider {
  id: string
  name: string
  type: "oauth" | "oidc" | "email" | "credentials" | "webauthn"
  signinUrl: string
  callbackUrl: string
}

/**
 * Points the client at another handler of the same origin: for a module that a bundler has put
 * elsewhere. Call it before anything else.
 */
export function configure(options: { /** Where the handler is mounted, such as `"/api/auth"`. */ basePath: string }): void

export interface SignInOptions<Redirect extends boolean = boolean> {
  /** Where to go once signed in: a path, or a URL of this origin. Default: this page, without an `error` and `code` in its query. */
  redirectTo?: string
  /** The older name of redirectTo. Of both, redirectTo counts. */
  callbackUrl?: string
  /** False: stay on the page, and get the outcome. Default: true. */
  redirect?: Redirect
  /** What else the provider needs: the fields of a credentials form, or `email`. Undefined ones are left out. */
  [field: string]: unknown
}

export interface SignInResponse {
  /** Undefined: it worked, as far as it can without leaving the page. Else such as `"CredentialsSignin"`. */
  error: string | undefined
  /** Says more about the error, if the app does: `"credentials"`, or a code of its own. */
  code: string | undefined
  status: number
  /** Whether the handler answered, which is not whether it let somebody in: see error. */
  ok: boolean
  /** Where to go next: for OAuth, to the provider. Null after an error. */
  url: string | null
}

/** Added to the URL that an OAuth provider is asked with, such as `{ prompt: "login" }`. */
export type SignInAuthorizationParams = string | string[][] | Record<string, string> | URLSearchParams

/**
 * Starts a sign-in; with credentials, does all of it. Without a provider, for an unknown one, or
 * for passkeys, it opens the handler's sign-in page, whatever `redirect` is.
 *
 * Resolves once the browser is told to leave the page, or, with `redirect: false`, to the
 * outcome: a wrong password is an outcome, with its `error`. Rejects with an AuthError if the
 * handler can't be asked; nothing has changed then.
 */
export function signIn(
  provider: string | undefined,
  options: SignInOptions<false> & { redirect: false },
  authorizationParams?: SignInAuthorizationParams,
): Promise<SignInResponse | undefined>
export function signIn(
  provider?: string | null,
  options?: SignInOptions<true>,
  authorizationParams?: SignInAuthorizationParams,
): Promise<void>
export function signIn(
  provider?: string | null,
  options?: SignInOptions,
  authorizationParams?: SignInAuthorizationParams,
): Promise<SignInResponse | void>

export interface SignOutOptions<Redirect extends boolean = boolean> {
  /** Where to go afterwards. Default: this page, as for signIn. */
  redirectTo?: string
  /** The older name of redirectTo. Of both, redirectTo counts. */
  callbackUrl?: string
  /** False: stay on the page; subscribers are told. Default: true. */
  redirect?: Redirect
}

export interface SignOutResponse {
  /** Where the page would have gone. */
  url: string
}

/**
 * Signs out, here and in all tabs. Reads of the session under way are asked again afterwards, so
 * that none brings the session back. Rejects with an AuthError if that failed: somebody who was
 * signed in then still is.
 */
export function signOut(options: SignOutOptions<false> & { redirect: false }): Promise<SignOutResponse>
export function signOut(options?: SignOutOptions<true>): Promise<void>
export function signOut(options?: SignOutOptions): Promise<SignOutResponse | void>

/**
 * Reads the session and extends it. Null: signed out. Rejects with an AuthError if nobody knows.
 * Tabs that know otherwise are told to look.
 */
export function getSession(): Promise<Session | null>

/** The configured providers by id, in the order of the sign-in page. */
export function getProviders(): Promise<Record<string, Provider>>

/** The token for the `csrfToken` field of a form of one's own; `""` if the handler doesn't check it. */
export function getCsrfToken(): Promise<string>

/**
 * Passes data to the handler's callbacks, with the trigger `update`, and gives the session that
 * they make of it; null: signed out. Without data it is getSession.
 */
export function update(data?: unknown): Promise<Session | null>

export interface SubscribeOptions {
  /** Whether the session is read when the page comes into view again. Default: true. */
  refetchOnWindowFocus?: boolean
  /** How often, in seconds, the session is read while somebody is signed in. Default: 0, never. */
  refetchInterval?: number
}

/**
 * What a subscriber is told. After an error session is what it was before: undefined while it
 * has never been read.
 */
export type SessionListener = (session: Session | null | undefined, error?: AuthError) => void

/**
 * Calls a listener with the session as soon as it is known, and whenever it was read anew: by
 * one of these functions, because the page came into view or the browser is online again, or
 * because another tab has seen somebody sign in or out. Gives the function that ends it.
 */
export function subscribe(listener: SessionListener, options?: SubscribeOptions): () => void

declare global {
  interface HTMLElementTagNameMap {
    "auth-sign-in": HTMLElement
    "auth-sign-out": HTMLElement
  }
  interface GlobalEventHandlersEventMap {
    "auth-error": CustomEvent<AuthError>
  }
}
