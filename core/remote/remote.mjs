// Who is signed in, by the word of a handler at the edge. remote.d.ts documents the exports.

const noStore = "private, no-cache, no-store"
const maxAnswer = 128 << 10 // bytes of a session's JSON
const maxToken = 64 << 10
const maxTime = 253402300799 // the end of the year 9999, in seconds
const chunkSize = 3936 // of a session cookie
const tolerance = 15 // seconds, for the times in a token
const clockDoubt = 900 // seconds after its end in which the edge is asked about a token
const maxRedirects = 5 // to the sign-in page, each within a minute of the last

export class EdgeAuthError extends Error {
  name = "EdgeAuthError"

  constructor(kind, message, cause) {
    super(`remote: ${kind}: ${message}`, { cause })
    this.kind = kind
  }
}

function check(holds, why) {
  if (!holds) throw new Error(why)
}

const utf8 = (text) => new TextEncoder().encode(text)
const fromUTF8 = (raw) => new TextDecoder("utf-8", { fatal: true }).decode(raw)
const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0))
const base64url = (raw) =>
  btoa(String.fromCharCode(...new Uint8Array(raw))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
const literal = (text) => text.replace(/[^\w-]/g, "\\$&") // in a regular expression

async function deriveKey(secret, salt) {
  const { subtle } = crypto
  const info = utf8(`Auth.js Generated Encryption Key (${salt})`)
  const base = await subtle.importKey("raw", utf8(secret), "HKDF", false, ["deriveBits"])
  const raw = await subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: utf8(salt), info }, base, 512)
  return {
    id: base64url(await subtle.digest("SHA-512", utf8(`{"k":"${base64url(raw)}","kty":"oct"}`))), // RFC 7638
    mac: await subtle.importKey("raw", raw.slice(0, 32), { name: "HMAC", hash: "SHA-512" }, false, ["sign"]),
    aes: await subtle.importKey("raw", raw.slice(32), "AES-CBC", false, ["decrypt"]),
  }
}

// Opens a compact JWE of dir and A256CBC-HS512 (RFC 7516 and RFC 7518, 5.2), which is what the
// handler makes, and gives its claims.
async function openToken(token, keys) {
  check(token.length <= maxToken && /^[\w-]+\.\.[\w-]{22}\.[\w-]+\.[\w-]{43}$/.test(token), "malformed token")
  const [head, , iv, text, tag] = token.split(".")
  const header = JSON.parse(fromUTF8(bytes(head)))
  check(header.alg === "dir" && header.enc === "A256CBC-HS512", "unsupported algorithm")
  check(!["crit", "zip", "iss", "sub", "aud"].some((name) => name in header), "unsupported header parameter")
  const key = "kid" in header ? keys.find(({ id }) => id === header.kid) : keys[0]
  check(key, "no key with this id")
  const length = new Uint8Array(8)
  new DataView(length.buffer).setUint32(4, head.length * 8)
  const covered = await new Blob([head, bytes(iv), bytes(text), length]).arrayBuffer()
  const sum = new Uint8Array(await crypto.subtle.sign("HMAC", key.mac, covered))
  check(bytes(tag).reduce((differs, byte, i) => differs | (byte ^ sum[i]), 0) === 0, "authentication failed")
  const claims = JSON.parse(fromUTF8(await crypto.subtle.decrypt({ name: "AES-CBC", iv: bytes(iv) }, key.aes, bytes(text))))
  check(claims && typeof claims === "object" && !Array.isArray(claims), "malformed claims")
  for (const name of ["exp", "nbf", "iat"]) check(!(name in claims) || typeof claims[name] === "number", "malformed claims")
  return claims
}

// What a token says now: a session, or null once it has expired by any clock, or undefined if
// that depends on whose clock is right.
function readClaims(claims) {
  const now = Math.floor(Date.now() / 1000)
  const { exp = maxTime, nbf = 0 } = claims
  check(nbf <= now + tolerance, "token not valid yet")
  if (exp <= now - tolerance) return exp <= now - tolerance - clockDoubt ? null : undefined
  const user = {}
  for (const [claim, member] of Object.entries({ name: "name", email: "email", picture: "image" }))
    if (claim in claims) user[member] = claims[claim]
  return { user, expires: new Date(Math.min(exp, maxTime) * 1000).toISOString() }
}

// The session in an answer, or null for signed out. A body that says {"message": …} has once been
// taken for a session, and everybody for signed in.
function parseSession(text) {
  const session = JSON.parse(text)
  if (session === null) return null
  const { user = null, expires } = session
  check(typeof user === "object" && !Array.isArray(user), "the user is no object")
  check(typeof expires === "string" && Date.parse(expires) <= maxTime * 1000, "no time in expires")
  return session
}

const pairs = (cookies) => [...cookies].map((pair) => pair.join("="))
const hash = async (cookies) => base64url(await crypto.subtle.digest("SHA-256", utf8(pairs(cookies).sort().join(";"))))

// The token as the handler joins it: the plain cookie, or the chunks up to the first gap.
function join(cookies, name) {
  const plain = cookies.get(name) ?? ""
  const chunks = [...cookies.keys()].filter((key) => key.startsWith(`${name}.`))
  const numbers = chunks.map((key) => Number(key.slice(name.length + 1))).sort((a, b) => a - b)
  if (plain && (plain.length !== chunkSize || numbers[0] !== 1)) return plain
  let token = plain
  for (let n = numbers[0]; cookies.has(`${name}.${n}`); n++) token += cookies.get(`${name}.${n}`)
  return token
}

// The session cookies that the browser will send once it has obeyed these lines.
function obey(cookies, lines) {
  const next = new Map(cookies)
  for (const line of lines) {
    const [, name, value] = /^\s*([^=]*?)\s*=\s*([^;]*?)\s*(?:;|$)/.exec(line)
    if (value && !/;\s*max-age=0/i.test(line)) next.set(name, value)
    else next.delete(name)
  }
  return next
}

export function edgeAuth(options) {
  const { timeout = 3, cacheFor = 5, cacheEntries = 1000 } = options
  const url = new URL(options.url)
  const base = url.pathname.replace(/\/+$/, "")
  const isOwn = !options.origin || options.origin === url.origin
  const signIn = options.signInPage ?? `${isOwn ? "" : url.origin}${base}/signin`
  const question = `${(options.internalUrl ?? url.href).replace(/\/+$/, "")}/session`
  const secrets = [options.secret ?? []].flat()
  if (url.search || url.hash || url.username || !/^https?:$/.test(url.protocol))
    throw new EdgeAuthError("InvalidConfig", "url is the handler's public URL, with its base path and without a query")
  if (secrets.includes("") || (options.secret !== undefined && !secrets.length))
    throw new EdgeAuthError("InvalidConfig", "secret is empty: set it to the edge's AUTH_SECRET, or leave it out to ask the edge")

  const name = options.cookieName ?? `${url.protocol === "https:" ? "__Secure-" : ""}authjs.session-token`
  const bare = name.replace(/^__(Secure|Host)-/, "")
  const ours = RegExp(`^(__Secure-|__Host-)?${literal(bare)}(\\.(\\d|[1-9]\\d|1\\d\\d))?$`)
  const actions = "providers|session|csrf|signin|signout|callback|verify-request|error|webauthn-options"
  const routes = RegExp(`^${literal(base)}/+(${actions})(/|$)`)
  const warn = options.onWarning ?? ((code, fix) => console.warn(`remote: ${code}: ${fix}`))
  const answers = new Map() // by the hash of the cookies
  const visits = new WeakMap() // what is known of a request
  let keys // no promise of one request is waited for by another

  // The session cookies of a request: of several with one name the first, and no empty ones.
  function sessionCookies(request) {
    const cookies = new Map()
    for (const part of (request.headers.get("cookie") ?? "").split(";")) {
      const at = part.indexOf("=")
      const key = part.slice(0, at).trim()
      if (at > 0 && ours.test(key) && !cookies.has(key)) cookies.set(key, part.slice(at + 1).trim())
    }
    for (const [key, value] of cookies) if (!value) cookies.delete(key)
    return cookies
  }

  async function ask(cookies) {
    const headers = { accept: "application/json", cookie: pairs(cookies).join("; "), "edgeauth-question": "1" }
    if (options.internalUrl)
      Object.assign(headers, { "x-forwarded-host": url.host, "x-forwarded-proto": url.protocol.slice(0, -1) })
    const chunks = []
    let response
    try {
      const signal = AbortSignal.timeout(timeout * 1000)
      response = await (options.fetch ?? fetch)(question, { headers, redirect: "manual", signal })
      const { status } = response
      if (status >= 500 || status === 429) throw new EdgeAuthError("EdgeDown", `the edge answers with status ${status}`)
      if (status !== 200 || !/^application\/json *(;|$)/i.test(response.headers.get("content-type")))
        throw new EdgeAuthError("EdgeAnswer", `status ${status}, or no JSON: is the handler at the url?`)
      let size = 0
      for await (const chunk of response.body ?? []) {
        chunks.push(chunk)
        if ((size += chunk.length) > maxAnswer) throw new EdgeAuthError("EdgeAnswer", "the answer is longer than 128 KiB")
      }
    } catch (cause) {
      if (cause instanceof EdgeAuthError) throw cause
      const isSlow = cause?.name === "TimeoutError" || cause?.name === "AbortError"
      throw new EdgeAuthError(isSlow ? "EdgeSlow" : "EdgeDown", "no whole answer of the edge", cause)
    }
    try {
      const text = fromUTF8(await new Blob(chunks).arrayBuffer())
      const lines = response.headers.getSetCookie().filter((line) => ours.test(line.split("=")[0].trim()))
      return { session: parseSession(text), text, lines }
    } catch (cause) {
      throw new EdgeAuthError("EdgeAnswer", "the answer is no session", cause)
    }
  }

  // Asks the edge unless it has just been asked. Only sessions are kept.
  async function askOnce(cookies) {
    if (cacheFor <= 0) return ask(cookies)
    const key = await hash(cookies)
    const found = answers.get(key)
    if (found && Date.now() < found.ends) return { session: JSON.parse(found.text), lines: [] }
    const answer = await ask(cookies)
    if (!answer.session) return answer
    const ends = Math.min(Date.now() + cacheFor * 1000, Date.parse(answer.session.expires))
    // With the jwt strategy every answer renews the token: the browser comes with the new one next.
    for (const one of new Set([key, await hash(obey(cookies, answer.lines))])) answers.set(one, { text: answer.text, ends })
    for (const oldest of answers.keys()) {
      if (answers.size <= cacheEntries) break
      answers.delete(oldest)
    }
    return answer
  }

  async function find(request) {
    if ((isOwn && routes.test(new URL(request.url).pathname)) || request.headers.has("edgeauth-question"))
      throw new EdgeAuthError("NotMounted", "a request for the edge's routes has come to the app: its path is not mounted")
    const cookies = sessionCookies(request)
    if (!cookies.size) return { session: null }
    if (!secrets.length) return askOnce(cookies)

    let claims, session, unread
    try {
      keys ??= await Promise.all(secrets.map((one) => deriveKey(one, name)))
      claims = await openToken(join(cookies, name), keys)
      session = readClaims(claims)
    } catch (cause) {
      unread = cause
    }
    if (session) return { session: (await options.fromToken?.(claims, session)) ?? session }
    if (session === null) return { session }

    // The edge judges what can't be read here, or is a matter of clocks.
    const answer = await askOnce(cookies).catch((cause) => {
      if (!unread) throw cause
      throw new EdgeAuthError("SecretMismatch", "the token can't be read with the secret, nor can the edge be asked", cause)
    })
    if (answer.session && unread)
      throw new EdgeAuthError(
        "SecretMismatch",
        "the edge knows a session that can't be read here: set secret to its AUTH_SECRET and cookieName to its cookie, " +
          "or leave secret out if its sessions are in a database",
        unread,
      )
    if (answer.session) warn("clock", "set this machine's clock: it is ahead of the edge's")
    return answer
  }

  // What is known of a request, found out once. The session is undefined until it is known.
  function visit(request) {
    let known = visits.get(request)
    if (!known) {
      const counted = /(?:^|; *)edgeauth\.redirects=(\d+)/.exec(request.headers.get("cookie"))
      known = { redirects: Number(counted?.[1] ?? 0) }
      known.answer = find(request).then((answer) => Object.assign(known, answer).session)
      visits.set(request, known)
    }
    return known
  }

  const isSecure = (options.origin ?? url.origin).startsWith("https:")
  const redirectCookie = (count) =>
    `edgeauth.redirects=${count}; Path=/; Max-Age=${count && 60}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`

  // Completes a response's header, once.
  function mark(known, headers) {
    headers.append("vary", "Cookie")
    known.isMarked = true
    const lines = [...(known.lines ?? [])]
    if (known.session && known.redirects) lines.push(redirectCookie(0))
    for (const line of lines) headers.append("set-cookie", line)
    if (known.session === null && !lines.length) return
    // What is one visitor's must not be served to the next one from a cache.
    if (!/no-store|private/i.test(headers.get("cache-control"))) headers.set("cache-control", noStore)
  }

  const session = (request) => visit(request).answer

  function complete(request, response) {
    const known = visits.get(request)
    if (!known || known.isMarked) return response
    try {
      mark(known, response.headers)
      return response
    } catch {
      // The headers of what fetch gave can't be changed.
      const copy = new Response(response.body, response)
      mark(known, copy.headers)
      return copy
    }
  }

  // A target is a request or an event that has one. Requests of Next.js throw when asked for theirs.
  const requestOf = (target) => (target instanceof Request ? target : target.request)

  function signInUrl(target) {
    const { method, url } = requestOf(target)
    if (method !== "GET" && method !== "HEAD") return signIn
    const { pathname, search } = new URL(target.url ?? url)
    const back = `${isOwn ? "" : options.origin}/${pathname.replace(/^\/+/, "")}${search}` // "//" would be another host
    return `${signIn}${signIn.includes("?") ? "&" : "?"}callbackUrl=${encodeURIComponent(back)}`
  }

  // Who is not signed in, and why that is not known, decide on a status, headers and a body.
  function refusal(known, target, error) {
    const request = requestOf(target)
    const mode = request.headers.get("sec-fetch-mode")
    const isPage = target.isDataRequest || (mode ? mode === "navigate" : /text\/html/i.test(request.headers.get("accept")))
    const json = (status, body, more) =>
      [status, { "content-type": "application/json", ...more }, JSON.stringify(body)]
    if (error) {
      const passes = error.kind === "EdgeDown" || error.kind === "EdgeSlow"
      const message = passes ? "It can't be found out at the moment who is signed in." : "There is a problem with the server configuration."
      const status = passes ? 503 : 500
      const more = passes && { "retry-after": "2" }
      return isPage ? [status, { "content-type": "text/plain; charset=utf-8", ...more }, message] : json(status, { message }, more)
    }
    const page = signInUrl(target)
    if (!isPage) return json(401, { message: "Sign in first.", url: page })
    const isLoop = known.redirects >= maxRedirects
    if (!isLoop && new URL(target.url ?? request.url).pathname !== signIn.split("?")[0])
      return [303, { location: page, "set-cookie": redirectCookie(known.redirects + 1) }, null]
    if (isLoop)
      warn(
        "signin-loop",
        "people are sent to sign in again and again: if they do sign in, the session cookie doesn't reach this app; " +
          "give it a domain that both share, or mount the handler on this app's origin",
      )
    const href = page.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt()};`)
    return [
      401,
      { "content-type": "text/html; charset=utf-8", "content-security-policy": "default-src 'none'; frame-ancestors 'none'" },
      `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Not signed in</title>` +
        `<h1>Not signed in</h1><p><a href="${href}">Sign in</a> to see this page.</p></html>`,
    ]
  }

  async function require(target) {
    const known = visit(requestOf(target))
    let error
    try {
      const session = await known.answer
      if (session?.user) return session
    } catch (cause) {
      console.error(`${cause}`)
      error = cause
    }
    const [status, init, body] = refusal(known, target, error)
    const headers = new Headers({ "cache-control": noStore, ...init })
    mark(known, headers)
    return new Response(body, { status, headers })
  }

  async function handle({ event, resolve }) {
    event.locals.auth = () => session(event.request)
    return complete(event.request, await resolve(event))
  }

  function onRequest(event) {
    event.locals.auth = async () => {
      const known = visit(event.request)
      try {
        return await known.answer
      } finally {
        if (!known.isMarked) mark(known, event.response.headers)
      }
    }
  }

  return { session, require, complete, signInUrl, handle, onRequest }
}
