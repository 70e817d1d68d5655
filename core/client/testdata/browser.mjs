// The stories of the browser's module, told with Chromium: node browser.mjs SITE TOOLS
// SITE is the site of browser_test.go, TOOLS the package.json next to playwright-core.
// SCREENSHOTS is a folder for pictures of the elements.
import assert from "node:assert/strict"
import fs from "node:fs"
import { createRequire } from "node:module"

const site = new URL(process.argv[2]).origin
const require = createRequire(process.argv[3])
const { chromium } = require("playwright-core")
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8")
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
})

/** Runs one story in a browser of its own. No page may run into its policy or throw. */
async function story(name, tell, { path = "/app", ...options } = {}) {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(60_000)
  const wrong = []
  context.on("console", (m) => m.type() === "error" && /Content Security Policy|Trusted/.test(m.text()) && wrong.push(m.text()))
  context.on("weberror", (e) => wrong.push(String(e.error())))
  const page = await context.newPage()
  try {
    if (path) await open(page, path)
    await tell(page, context)
    assert.deepEqual(wrong, [])
    console.log(`ok ${name}`)
  } catch (e) {
    throw new Error(`${name}: ${e.stack}\nat ${page.url()}\n${(await page.innerText("body").catch(() => "")).slice(0, 300)}`)
  } finally {
    await context.close()
  }
}

const open = (page, path) => page.goto(site + path)
/** A page with the app has its module and, if it subscribes, nothing that is still under way. */
const app = async (page, path) => {
  await open(page, path)
  await page.waitForFunction(() => globalThis.auth)
}
const login = { username: "ada", password: "demo", redirect: false }
const signIn = (page, ...args) => page.evaluate((args) => auth.signIn(...args), args)
/** Calls a function that leaves the page, which takes its outcome along. */
const leave = (page, name, ...args) => page.evaluate(([name, args]) => void auth[name](...args), [name, args])
const getSession = (page) => page.evaluate(() => auth.getSession())
/** What a call rejects with. */
const failure = (page, f, arg) =>
  page.evaluate(([f, arg]) => globalThis.eval(`(${f})`)(arg).then((value) => ({ value }), ({ name, status, code, message }) => ({ name, status, code, message })), [String(f), arg])
const told = (page) => page.evaluate(() => globalThis.told)
const isTold = (page, want) =>
  page.waitForFunction((want) => globalThis.told.some((t) => Object.entries(want).every(([k, v]) => (k === "session" ? t.session === v : t[k] === v))), want)
const cookies = async (context, name) => (await context.cookies(site)).filter((c) => c.name.startsWith(name))
const breakdown = (context) => context.addCookies([{ name: "outage", value: "1", url: site }])
/** Moves with the Tab key to an element, also inside of a shadow root. */
const tabTo = async (page, id) => {
  for (let i = 0; i < 20; i++) {
    await page.keyboard.press("Tab")
    if (await page.evaluate((id) => document.activeElement?.closest(`#${id}`) != null, id)) return
  }
  assert.fail(`the Tab key does not reach ${id}`)
}

try {
  await story("credentials without a redirect", async (page) => {
    await app(page, "/app")
    assert.equal(await getSession(page), null)
    const wrong = await signIn(page, "credentials", { ...login, password: "wrong" })
    assert.deepEqual(wrong, { error: "CredentialsSignin", code: "credentials", status: 200, ok: true, url: null })
    const locked = await signIn(page, "credentials", { ...login, username: "locked" })
    assert.deepEqual([locked.error, locked.code], ["CredentialsSignin", "locked_out"])
    assert.equal(await getSession(page), null)
    const right = await signIn(page, "credentials", { ...login, left: undefined })
    assert.deepEqual(right, { error: undefined, code: undefined, status: 200, ok: true, url: `${site}/app` })
    const session = await getSession(page)
    assert.equal(session.user.email, "ada@example.com")
    assert.ok(Date.parse(session.expires) > Date.now())
    assert.equal(page.url(), `${site}/app`)
  })

  await story("an earlier error in the page's URL is not the outcome", async (page) => {
    await app(page, "/app?error=CredentialsSignin&code=credentials&x=1")
    const right = await signIn(page, "credentials", login)
    assert.deepEqual([right.error, right.url], [undefined, `${site}/app?x=1`])
    assert.deepEqual(await page.evaluate(() => auth.signOut({ redirect: false, redirectTo: "/app?error=mine" })), { url: `${site}/app?error=mine` })
  })

  await story("credentials with a redirect", async (page) => {
    await app(page, "/app")
    await leave(page, "signIn", "credentials", { ...login, redirect: true, redirectTo: "/elements" })
    await page.waitForURL(`${site}/elements`)
    await app(page, "/app")
    assert.equal((await getSession(page)).user.name, "ada")
    await leave(page, "signOut", { callbackUrl: "/elements" })
    await page.waitForURL(`${site}/elements`)
    await app(page, "/app")
    assert.equal(await getSession(page), null)
    await leave(page, "signIn", "credentials", { ...login, redirect: true, password: "wrong" })
    await page.getByRole("alert").waitFor()
    assert.match(page.url(), /\/auth\/signin\?error=CredentialsSignin&code=credentials$/)
  })

  await story("a redirect to a fragment of the page loads it anew", async (page) => {
    await app(page, "/app")
    await page.evaluate(() => (globalThis.old = true))
    await leave(page, "signIn", "credentials", { ...login, redirect: true, redirectTo: `${site}/app#there` })
    await page.waitForFunction(() => !globalThis.old && globalThis.auth && location.hash === "#there")
    assert.equal((await getSession(page)).user.name, "ada")
  })

  await story("an OAuth provider gets the authorization parameters", async (page) => {
    await app(page, "/app")
    const { stub } = await page.evaluate(() => auth.getProviders())
    assert.equal(stub.type, "oauth")
    const { url } = await signIn(page, "stub", { redirect: false }, { prompt: "login" })
    assert.equal(new URL(url).searchParams.get("prompt"), "login")
    await leave(page, "signIn", "stub", { redirectTo: "/elements" }, "prompt=consent&login_hint=a%26b")
    await page.waitForURL(`${site}/idp/authorize*`)
    const query = new URL(page.url()).searchParams
    assert.equal(query.get("prompt"), "consent")
    assert.equal(query.get("login_hint"), "a&b")
    assert.equal(query.get("client_id"), "client")
    await page.getByText("Allow").click()
    await page.waitForURL(`${site}/elements`)
    await app(page, "/app")
    assert.equal((await getSession(page)).user.name, "Stub")
  })

  for (const provider of [undefined, "nobody", "constructor"])
    await story(`signIn(${provider}) opens the sign-in page`, async (page) => {
      await app(page, "/app?x=1")
      await leave(page, "signIn", provider, { redirect: false })
      await page.getByRole("button", { name: "Sign in with Stub" }).waitFor()
      assert.equal(page.url(), `${site}/auth/signin?callbackUrl=${encodeURIComponent(`${site}/app?x=1`)}`)
    })

  await story("update", async (page, context) => {
    await app(page, "/app?subscribe")
    await signIn(page, "credentials", login)
    const other = await context.newPage()
    await app(other, "/app?subscribe")
    await isTold(other, { name: "ada" })
    assert.equal((await page.evaluate(() => auth.update({ name: "Ada Lovelace" }))).user.name, "Ada Lovelace")
    await isTold(page, { name: "Ada Lovelace" })
    await isTold(other, { name: "Ada Lovelace" })
    assert.equal((await getSession(page)).user.name, "Ada Lovelace")
    assert.equal((await page.evaluate(() => auth.update())).user.name, "Ada Lovelace")
    await page.evaluate(() => auth.signOut({ redirect: false }))
    assert.equal(await page.evaluate(() => auth.update({ name: "Nobody" })), null)
  })

  await story("one tab's sign-in and sign-out are seen in the others", async (page, context) => {
    await app(page, "/app?subscribe")
    const other = await context.newPage()
    await app(other, "/app?subscribe")
    await isTold(other, { session: null })
    await signIn(page, "credentials", login)
    await isTold(other, { name: "ada" })
    await page.evaluate(() => auth.signOut({ redirect: false }))
    assert.equal((await told(page)).at(-1).session, null)
    await other.waitForFunction(() => told.length > 1 && told.at(-1).session === null)
    // With redirects, the page that comes back tells it.
    await leave(page, "signIn", "stub")
    await page.waitForURL(`${site}/idp/authorize*`)
    await page.getByText("Allow").click()
    await isTold(other, { name: "Stub" })
    await page.waitForFunction(() => globalThis.auth)
    await leave(page, "signOut", { redirectTo: "/elements" })
    await other.waitForFunction(() => told.at(-1).session === null)
    // The tabs agree now, and leave it at that.
    const asked = []
    context.on("request", (r) => r.url().endsWith("/auth/session") && asked.push(r.url()))
    await page.waitForURL(`${site}/elements`)
    await app(page, "/app")
    await getSession(page)
    await getSession(page)
    assert.equal(asked.length, 2)
  })

  await story("a subscriber leaves, and another comes to know what is known", async (page) => {
    await app(page, "/app?subscribe")
    await isTold(page, { session: null })
    await page.evaluate(() => stop())
    await signIn(page, "credentials", login)
    assert.equal((await told(page)).length, 1)
    assert.equal(await page.evaluate(() => new Promise((done) => auth.subscribe((s) => done(s.user.name)))), "ada")
  })

  await story("a page that comes into view reads the session", async (page, context) => {
    await app(page, "/app?subscribe")
    await signIn(page, "credentials", login)
    await isTold(page, { name: "ada" })
    await context.clearCookies({ name: "authjs.session-token" })
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")))
    await page.waitForFunction(() => told.at(-1).session === null)
    await page.evaluate(() => (told.length = 0, stop(), (globalThis.stop = auth.subscribe((session) => told.push({ session }), { refetchOnWindowFocus: false }))))
    await isTold(page, { session: null })
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")))
    await page.evaluate(() => auth.getProviders()) // time enough for a read
    assert.equal((await told(page)).length, 1)
  })

  await story("an interval reads the session of somebody signed in", async (page) => {
    await app(page, "/app")
    await signIn(page, "credentials", login)
    const count = await page.evaluate(() => new Promise((done) => { let n = 0; auth.subscribe((session) => session && ++n === 3 && done(n), { refetchInterval: 0.05 }) }))
    assert.equal(count, 3)
  })

  for (const [name, begin, end, status] of [
    ["a store that is down", (context) => breakdown(context), (context) => context.clearCookies({ name: "outage" }), 503],
    ["a network that is down", (context) => context.setOffline(true), (context) => context.setOffline(false), 0],
    ["a proxy's page", (context) => context.route("**/auth/session", (r) => r.fulfill({ body: "<p>Please wait", contentType: "text/html" })), (context) => context.unroute("**/auth/session"), 200],
  ])
    await story(`${name} signs nobody out`, async (page, context) => {
      await app(page, "/app?subscribe")
      await signIn(page, "credentials", login)
      await isTold(page, { name: "ada" })
      const other = await context.newPage()
      await app(other, "/app")
      await begin(context)
      for (const call of [() => auth.getSession(), () => auth.update()]) {
        const error = await failure(page, call)
        assert.deepEqual([error.name, error.status], ["AuthError", status])
      }
      await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")))
      await isTold(page, { name: "ada", status })
      assert.equal((await told(page)).some((t) => t.name !== "ada" && t.session === null && t.status !== undefined), false)
      const last = (await told(page)).at(-1)
      assert.equal(last.name, "ada")
      // Who has never known anything doesn't know that nobody is signed in either.
      await other.evaluate(() => auth.subscribe((session, error) => told.push({ known: session !== undefined, status: error?.status })))
      await isTold(other, { known: false, status })
      await end(context)
      await other.evaluate(() => dispatchEvent(new Event("online")))
      await isTold(other, { known: true })
      assert.equal((await getSession(page)).user.name, "ada")
      await page.waitForFunction(() => told.at(-1).name === "ada" && told.at(-1).status === undefined)
    })

  await story("without a network nobody is signed in or out", async (page, context) => {
    await app(page, "/app?subscribe")
    await signIn(page, "credentials", login)
    await context.setOffline(true)
    for (const redirect of [true, false]) {
      const out = await failure(page, (redirect) => auth.signOut({ redirect }), redirect)
      assert.deepEqual([out.name, out.status], ["AuthError", 0])
      const back = await failure(page, (redirect) => auth.signIn("credentials", { username: "eve", password: "demo", redirect }), redirect)
      assert.deepEqual([back.name, back.status], ["AuthError", 0])
    }
    assert.ok((await told(page)).at(-1).name === "ada")
    await context.setOffline(false)
    assert.equal((await getSession(page)).user.name, "ada")
  })

  await story("a void CSRF token is replaced", async (page, context) => {
    await app(page, "/app")
    const stale = (r) => r.fulfill({ json: { csrfToken: "stale" } })
    for (const call of [
      () => auth.signIn("credentials", { username: "ada", password: "demo", redirect: false }),
      () => auth.update({ name: "Ada" }),
      () => auth.signOut({ redirect: false }),
    ]) {
      await context.route("**/auth/csrf", stale, { times: 1 })
      const { value } = await failure(page, call)
      assert.ok(value, String(call))
      assert.equal(value.error, undefined)
    }
    assert.equal(await getSession(page), null)
    // A browser that keeps no cookies gets no further.
    await context.route("**/auth/csrf", stale)
    const error = await failure(page, () => auth.signOut())
    assert.deepEqual([error.name, error.code, error.status], ["AuthError", "MissingCSRF", 200])
    assert.equal(page.url(), `${site}/app`)
  })

  await story("a read that is answered late doesn't bring the session back", async (page, context) => {
    await app(page, "/app")
    await signIn(page, "credentials", login)
    await context.addCookies([{ name: "hold", value: "1", url: site }])
    await app(page, "/app?subscribe") // its first read is held back
    await page.evaluate(() => void (globalThis.mine = auth.getSession()))
    await page.request.get(`${site}/holding`)
    await page.request.get(`${site}/holding`)
    await context.clearCookies({ name: "hold" })
    await page.evaluate(() => auth.signOut({ redirect: false }))
    for (let i = 0; i < 2; i++) await page.request.get(`${site}/release`)
    assert.equal(await page.evaluate(() => mine), null)
    await isTold(page, { session: null })
    assert.equal(await getSession(page), null)
    assert.deepEqual(await cookies(context, "authjs.session-token"), [])
    assert.equal((await told(page)).some((t) => t.session || t.status), false)
  })

  await story("a handler's answer can't run a script", async (page, context) => {
    await app(page, "/app")
    await context.route("**/auth/signout", (r) => r.fulfill({ json: { url: "javascript:globalThis.ran=1" } }))
    const error = await failure(page, () => auth.signOut())
    assert.match(error.message, /script/)
    assert.equal(await page.evaluate(() => globalThis.ran), undefined)
  })

  await story("configure", async (page) => {
    await app(page, "/app")
    await page.evaluate(() => auth.configure({ basePath: "/nowhere" }))
    const error = await failure(page, () => auth.getSession())
    assert.deepEqual([error.name, error.status], ["AuthError", 404])
    await page.evaluate(() => auth.configure({ basePath: "/auth" }))
    assert.equal(await getSession(page), null)
    await page.evaluate(() => auth.configure({ basePath: "/auth//" }))
    assert.equal(await getSession(page), null)
  })

  await story("elements, by keyboard", async (page) => {
    await tabTo(page, "oauth")
    await page.keyboard.press("Enter")
    await page.waitForURL(`${site}/idp/authorize*`)
    assert.equal(new URL(page.url()).searchParams.get("prompt"), "login")
    assert.equal(new URL(page.url()).searchParams.get("hint"), "1")
    await page.getByText("Allow").click()
    await page.waitForURL(`${site}/app`)
    await page.waitForFunction(() => globalThis.auth)
    assert.equal((await getSession(page)).user.name, "Stub")
    await open(page, "/elements")
    await tabTo(page, "out")
    await page.keyboard.press("Space")
    await page.waitForURL(`${site}/app`)
    await page.waitForFunction(() => globalThis.auth)
    assert.equal(await getSession(page), null)
    await open(page, "/elements")
    await tabTo(page, "plain")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Sign in with Stub" }).waitFor()
    assert.equal(page.url(), `${site}/auth/signin?callbackUrl=${encodeURIComponent(`${site}/elements`)}`)
  }, { path: "/elements" })

  await story("elements, read aloud", async (page) => {
    for (const [id, name] of [["oauth", "Sign in with Stub"], ["plain", "Sign in"], ["styled", "Styled by the page"], ["out", "Sign out"]])
      assert.equal(await page.locator(`#${id}`).getByRole("button", { name, exact: true }).count(), 1, id)
    assert.equal(await page.locator("#link").getByRole("button").count(), 0)
    assert.equal(await page.locator("#link").getByRole("link", { name: "Sign in by a link" }).count(), 1)
    for (const id of ["button", "form", "outform"]) assert.equal(await page.locator(`#${id}`).getByRole("button").count(), 1, id)
    assert.equal(await page.locator("#hidden").isVisible(), false)
    assert.equal(await page.evaluate(() => (document.querySelector("#out").focus(), document.activeElement.id)), "out")
    // What comes inside later counts, too.
    await page.evaluate(() => {
      const late = document.createElement("auth-sign-in")
      late.id = "late"
      document.body.append(late)
      late.append(Object.assign(document.createElement("a"), { href: "/auth/signin", textContent: "Late" }))
    })
    await page.locator("#late").getByRole("link", { name: "Late" }).waitFor()
    assert.equal(await page.locator("#late").getByRole("button").count(), 0)
  }, { path: "/elements" })

  await story("elements act for what is inside of them", async (page, context) => {
    const [tab] = await Promise.all([context.waitForEvent("page"), page.getByText("Sign in by a link").click({ modifiers: ["Control"] })])
    await tab.waitForURL(`${site}/auth/signin`)
    await page.getByText("Sign in by a link").click()
    await page.waitForURL(`${site}/idp/authorize*`)
    await open(page, "/elements")
    await page.getByText("A button inside").click()
    await page.waitForURL(`${site}/idp/authorize*`)
    await open(page, "/elements")
    await page.getByLabel("Name").fill("ada")
    await page.getByLabel("Password").fill("demo")
    await page.keyboard.press("Enter")
    await page.waitForURL(`${site}/app`)
    await page.waitForFunction(() => globalThis.auth)
    assert.equal((await getSession(page)).user.name, "ada")
    await open(page, "/elements")
    await page.getByText("Sign out by a form").click()
    await page.waitForURL(`${site}/app`)
    await page.waitForFunction(() => globalThis.auth)
    assert.equal(await getSession(page), null)
  }, { path: "/elements" })

  await story("elements tell that they failed, and stay if the page minds", async (page, context) => {
    await context.setOffline(true)
    for (const [text, id] of [["Sign in with Stub", "oauth"], ["Sign in by a link", "link"], ["Sign out by a form", "outform"]]) {
      await page.evaluate(() => (failures.length = 0))
      await page.getByText(text).click()
      await page.waitForFunction(() => failures.length === 1)
      assert.deepEqual(await page.evaluate(() => failures[0]), { from: id, name: "AuthError", status: 0 })
      await page.waitForFunction((id) => !document.querySelector(`#${id}`).hasAttribute("aria-busy"), id)
    }
    assert.equal(page.url(), `${site}/elements?stay`)
  }, { path: "/elements?stay" })

  await story("elements that fail do what they would without scripts", async (page, context) => {
    await context.route(/\/auth\/(providers|csrf)$/, (r) => r.fulfill({ status: 503, body: "null" }))
    const leads = async (click, url) => {
      await open(page, "/elements")
      await click()
      await page.waitForURL(url)
    }
    await leads(() => page.getByText("Sign in with Stub").click(), `${site}/auth/signin?callbackUrl=%2Fapp`)
    await leads(() => page.getByText("Sign in by a link").click(), `${site}/auth/signin`)
    await leads(() => page.locator("#out").click(), `${site}/auth/signout?callbackUrl=%2Fapp`)
    await leads(() => page.getByText("Sign out by a form").click(), `${site}/auth/signin?error=MissingCSRF`)
    await leads(async () => {
      await page.getByLabel("Name").fill("ada")
      await page.getByLabel("Password").fill("demo")
      await page.getByText("Sign in by a form").click()
    }, `${site}/auth/signin?error=MissingCSRF`)
  }, { path: null })

  await story("without scripts, links and forms work", async (page) => {
    await page.getByText("Sign in by a link").click()
    await page.getByRole("button", { name: "Sign in with Stub" }).waitFor()
    await open(page, "/elements")
    await page.getByText("Sign out by a form").click()
    await page.getByRole("button", { name: "Sign in with Stub" }).waitFor()
  }, { path: "/elements", javaScriptEnabled: false })

  for (const colorScheme of ["light", "dark"])
    await story(`elements on a phone, ${colorScheme}`, async (page) => {
      await page.locator("#oauth").getByRole("button").waitFor()
      await page.evaluate(axe) // through the debugger: the page's policy forbids it
      const { violations } = await page.evaluate(() => globalThis.axe.run())
      assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(" ")}`), [])
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth), false)
      await tabTo(page, "oauth")
      if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/elements-${colorScheme}.png` })
    }, { path: "/elements", colorScheme, viewport: { width: 390, height: 844 } })
} finally {
  await browser.close()
}
