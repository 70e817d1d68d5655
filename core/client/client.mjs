// The browser's side of the handler that serves this file. client.d.ts documents its exports.

let base = new URL(".", import.meta.url) // of the handler, with a slash at its end

export function configure({ basePath }) {
  base = new URL(basePath.replace(/\/*$/, "/"), globalThis.location ?? base)
}

export class AuthError extends Error {
  name = "AuthError"

  constructor(message, { status = 0, code, cause } = {}) {
    super(`auth: ${message}`, { cause })
    this.status = status
    this.code = code
  }
}

// Whatever is not the handler's JSON is an error: a proxy's page, a cut connection, a 503.
async function ask(path, init) {
  let status
  try {
    const response = await fetch(new URL(path, base), { cache: "no-store", ...init })
    status = response.status
    const data = await response.json()
    if (response.ok) return { data, status }
  } catch (cause) {
    throw new AuthError(`no usable answer of ${path}`, { status, cause })
  }
  throw new AuthError(`status ${status} of ${path}`, { status })
}

export async function getProviders() {
  return (await ask("providers")).data
}

export async function getCsrfToken() {
  try {
    return (await ask("csrf")).data.csrfToken
  } catch (error) {
    if (error.status === 404) return "" // the handler leaves the check to its framework
    throw error
  }
}

// Two first requests of a browser at once each set a CSRF cookie, and one token is void. The
// handler has done nothing then, so the request is made once more.
async function submit(path, fields, csrfToken) {
  for (let last = false; ; last = true) {
    const body = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...fields, csrfToken: csrfToken ?? (await getCsrfToken()) }))
      if (value !== undefined) body.append(name, value)
    const { data, status } = await ask(path, { method: "POST", body, headers: { "X-Auth-Return-Redirect": "1" } })
    if (typeof data?.url !== "string") throw new AuthError(`no url in the answer of ${path}`, { status })
    const query = new URL(data.url, location).searchParams
    const error = query.get("error") ?? undefined
    if (error !== "MissingCSRF") return { error, code: query.get("code") ?? undefined, status, ok: true, url: data.url }
    if (last) throw new AuthError("the browser keeps no CSRF cookie", { status, code: error })
    csrfToken = undefined
  }
}

// A read extends the session's cookie: answered after a sign-out, it would bring the session
// back. So a change stops the reads under way, and they begin again after it.
let change
let reads = new AbortController()

function post(...request) {
  reads.abort()
  reads = new AbortController()
  const result = submit(...request)
  change = result.catch(() => {})
  return result
}

// This page, without the error of an earlier attempt, which would be taken for this one's.
function here() {
  const url = new URL(location)
  if (url.searchParams.has("error")) for (const name of ["error", "code"]) url.searchParams.delete(name)
  return url.href
}

function go(url) {
  const to = new URL(url, location)
  // A Location header could not run a script; an assignment could.
  if (to.protocol === "javascript:") throw new AuthError("refused to go to a script")
  const stays = to.href.includes("#") && to.href.split("#")[0] === location.href.split("#")[0]
  location.assign(to)
  if (stays) location.reload()
}

function goToPage(action, callbackUrl) {
  go(new URL(`${action}?${new URLSearchParams({ callbackUrl })}`, base))
}

export async function signIn(provider, options, authorizationParams) {
  const { redirect = true, callbackUrl = here(), redirectTo = callbackUrl, ...fields } = options ?? {}
  const [providers, csrfToken] = provider ? await Promise.all([getProviders(), getCsrfToken()]) : [{}]
  const type = providers[provider]?.type
  if (!type || type === "webauthn") return goToPage("signin", redirectTo)
  const path = `${type === "credentials" ? "callback" : "signin"}/${provider}?${new URLSearchParams(authorizationParams)}`
  const result = await post(path, { ...fields, callbackUrl: redirectTo }, csrfToken)
  if (redirect) return go(result.url)
  if (result.error) return { ...result, url: null }
  if (type === "credentials") await getSession().catch(() => {}) // for subscribers, who learn of errors, too
  return result
}

export async function signOut(options) {
  const { redirect = true, callbackUrl = here(), redirectTo = callbackUrl } = options ?? {}
  const { error, status, url } = await post("signout", { callbackUrl: redirectTo })
  if (error && `${new URL(url, location)}` !== `${new URL(redirectTo, location)}`)
    throw new AuthError(`sign-out failed: ${error}`, { status, code: error })
  settle(++turn, null)
  tell()
  if (redirect) return go(url)
  return { url }
}

// The session as last read, undefined before. A read counts unless a later one was answered first.
let known
let turn = 0
let settled = 0
let busy = 0
const listeners = new Set()
const channel = globalThis.document && globalThis.BroadcastChannel && new BroadcastChannel("auth-session")

function notify(error) {
  const session = known
  for (const listener of listeners) queueMicrotask(() => listeners.has(listener) && listener(session, error))
}

function settle(mine, session) {
  if (mine < settled) return
  settled = mine
  known = session
  notify()
}

async function read(init) {
  await change
  const mine = ++turn
  const { signal } = reads
  busy++
  try {
    const { data, status } = await ask("session", { ...init, signal })
    if (typeof data !== "object") throw new AuthError("no session in the answer", { status })
    settle(mine, data)
    return data
  } catch (error) {
    if (signal.aborted) return read(init)
    if (mine > settled) notify(error)
    throw error
  } finally {
    busy--
  }
}

// What tabs compare, to ask the handler if they differ: they don't trust one another.
function mark() {
  return JSON.stringify(known, (name, value) => (name === "expires" ? undefined : value))
}

function tell() {
  channel?.postMessage(mark())
}

export async function getSession() {
  const session = await read()
  tell()
  return session
}

export async function update(data) {
  if (data === undefined) return getSession()
  const headers = { "Content-Type": "application/json" }
  const send = async () => read({ method: "POST", headers, body: JSON.stringify({ csrfToken: await getCsrfToken(), data }) })
  const session = await send().catch((error) => {
    if (error.status === 400) return send() // a void token, as in submit
    throw error
  })
  tell()
  return session
}

export function subscribe(listener, { refetchOnWindowFocus = true, refetchInterval = 0 } = {}) {
  const call = (session, error) => listener(session, error)
  const look = () => busy || getSession().catch(() => {}) // the listeners are told of its error
  const stop = new AbortController()
  const { signal } = stop
  listeners.add(call)
  if (channel) channel.onmessage = ({ data }) => listeners.size && data !== mark() && read().catch(() => {})
  if (refetchOnWindowFocus)
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && look(), { signal })
  addEventListener("online", look, { signal })
  const timer = refetchInterval && setInterval(() => known === null || look(), refetchInterval * 1000)
  if (known === undefined) look()
  else queueMicrotask(() => listeners.has(call) && call(known))
  return () => {
    listeners.delete(call)
    stop.abort()
    clearInterval(timer)
  }
}

// An element acts for the link, button or form inside of it, else for a button of its own.
function define(name, label, page, act) {
  if (customElements.get(name)) return
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(
    ":host{display:inline-block}:host([hidden]){display:none}:host([aria-busy]){opacity:.6}" +
      "button{width:100%;font:inherit;padding:.5em 1em;border:1px solid ButtonBorder;border-radius:.4em;" +
      "color:ButtonText;background:ButtonFace;cursor:pointer;outline-offset:2px}",
  )
  customElements.define(
    name,
    class extends HTMLElement {
      constructor() {
        super()
        const root = this.attachShadow({ mode: "open", delegatesFocus: true })
        root.adoptedStyleSheets = [sheet]
        const slot = document.createElement("slot")
        slot.textContent = label
        const button = document.createElement("button")
        button.type = "button"
        button.part = "button"
        const arrange = () => {
          const inner = this.querySelector("a[href],button,form") ? slot : button
          if (root.firstChild === inner) return
          button.append(slot)
          root.replaceChildren(inner)
        }
        arrange()
        slot.addEventListener("slotchange", arrange)
        const toPage = () => goToPage(page, this.getAttribute("callback-url") ?? here())
        button.addEventListener("click", () => this.#run(toPage))
        this.addEventListener("click", (event) => {
          const inner = event.target.closest("a[href],button")
          if (!inner || inner === this || !this.contains(inner) || inner.closest("form")) return
          if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey) return
          event.preventDefault()
          this.#run(inner.href ? () => go(inner.href) : toPage)
        })
        this.addEventListener("submit", (event) => {
          if (event.defaultPrevented) return
          event.preventDefault()
          const { target, submitter } = event
          // Not target.submit(): an input may have that name.
          this.#run(() => HTMLFormElement.prototype.submit.call(target), Object.fromEntries(new FormData(target, submitter)))
        })
      }

      async #run(fallback, fields = {}) {
        if (this.hasAttribute("aria-busy")) return
        this.setAttribute("aria-busy", "true")
        try {
          await act(this, { ...fields, redirectTo: this.getAttribute("callback-url") ?? fields.redirectTo })
        } catch (detail) {
          if (this.dispatchEvent(new CustomEvent("auth-error", { detail, bubbles: true, composed: true, cancelable: true }))) fallback()
        } finally {
          this.removeAttribute("aria-busy")
        }
      }
    },
  )
}

if (globalThis.customElements) {
  define("auth-sign-in", "Sign in", "signin", (element, options) =>
    signIn(element.getAttribute("provider"), options, element.getAttribute("authorization-params") ?? undefined),
  )
  define("auth-sign-out", "Sign out", "signout", (_, options) => signOut(options))
}
