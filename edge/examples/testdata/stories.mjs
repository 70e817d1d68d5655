// Tells what people do in an example app, with Chromium: stories.mjs '{"Edge": "up", …}'. The
// fields are those of the type story in examples_test.go.
import assert from "node:assert/strict"
import { createRequire } from "node:module"

const { chromium } = createRequire(new URL("../../worker/package.json", import.meta.url))("playwright-core")
const { Edge: edge, Name: app, Origin: origin, Base: base, State: state } = JSON.parse(process.argv[2])

// All have the pages / and /account, and #user with the name of who is signed in. What differs:
const {
  client = "/client", // the page that the browser renders
  server = "#user", // what the server renders of /
  account = "Account", // the heading of /account
  hasForm = true, // whether / has a form for name and password, or a button that leads to one
  plain = "/", // from where people sign in without scripts
  plainSignOut = false, // whether they sign out without
  refusal = 401, // what a script gets that asks for /account and is not signed in
  back = "/account", // where people are who went there and then signed in
  signOutAt = "/", // from where a sign-out is told to other tabs
  follows = true, // whether / and /account hear of it
  lookAlike = false, // whether a handler that is down looks like "signed out" to the official client
} = {
  site: { hasForm: false, plainSignOut: true, refusal: 303, signOutAt: "/client", follows: false },
  // core/route redirects everybody to one page, from which no way leads back.
  api: { client: "/", server: "#server", account: "Who am I?", hasForm: false, plain: "/account", refusal: 302, back: "/", follows: false },
  next: { lookAlike: true },
}[app] ?? {}
const nobody = "Nobody is signed in."
const unknown = "Try again later."

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
})

/** Goes to a page, and waits until its scripts have taken over. */
const open = (page, path) => page.goto(origin + path, { waitUntil: "networkidle" })

/** Waits until the page shows a name, or says that there is none. */
async function shows(page, text, where = "#user") {
  const user = page.locator(where)
  await user.filter({ hasText: text }).waitFor().catch(async () => {
    assert.equal((await user.textContent({ timeout: 100 }).catch(() => `a page without ${where}`)).trim(), text)
  })
}

/** What the server knows of who has these cookies: the page as it is without scripts. */
async function serverShows(context, text) {
  const copy = await browser.newContext({ javaScriptEnabled: false, storageState: await context.storageState() })
  const page = await copy.newPage()
  await page.goto(origin)
  await shows(page, text, server)
  await copy.close()
}

async function fillIn(page, name = "ada", password = "engine") {
  await page.getByLabel("Name").fill(name)
  await page.getByLabel("Password").fill(password)
  await page.getByRole("button", { name: /^Sign in( with Credentials)?$/ }).click()
}

/** Goes to the form: the app's own, or the handler's. */
async function toForm(page) {
  await open(page, "/")
  if (!hasForm) await page.getByRole("button", { name: "Sign in" }).click()
}

async function signIn(page) {
  await toForm(page)
  await fillIn(page)
  await shows(page, "Ada Lovelace")
}

/** Signs in without a visit to the app's pages, which would keep the session for a few seconds. */
async function signInAtHandler(context) {
  const { csrfToken } = await (await context.request.get(`${origin}${base}/csrf`)).json()
  const form = { csrfToken, username: "ada", password: "engine" }
  const response = await context.request.post(`${origin}${base}/callback/credentials`, { form, headers: { origin }, maxRedirects: 0 })
  assert.equal(response.headers().location, origin)
}

const atSignIn = (url) => url.pathname === `${base}/signin`

const up = {
  "a stranger is told so, and kept out": async (page) => {
    await open(page, "/")
    await shows(page, nobody)
    await open(page, client)
    await shows(page, nobody)
    for (const go of [() => page.goto(`${origin}/account`), () => open(page, "/").then(() => page.getByRole("link", { name: "Account" }).click())]) {
      await go()
      await page.waitForURL((url) => atSignIn(url) && (back === "/" || url.searchParams.get("callbackUrl").endsWith(back)))
    }
    const answer = await page.request.get(`${origin}/account`, { headers: { accept: "application/json" }, maxRedirects: 0 })
    assert.equal(answer.status(), refusal, "for a script")
  },

  "somebody signs in where the account was": async (page) => {
    await page.goto(`${origin}/account`)
    await fillIn(page)
    await page.waitForURL(origin + back)
    await shows(page, "Ada Lovelace")
  },

  "a wrong password is told, the right one signs in": async (page, context) => {
    await toForm(page)
    await fillIn(page, "ada", "wrong")
    await page.getByRole("alert").filter({ hasText: /is wrong|failed/ }).waitFor()
    await fillIn(page)
    await shows(page, "Ada Lovelace")
    await serverShows(context, "Ada Lovelace")
    await open(page, client)
    await shows(page, "Ada Lovelace")
    await page.getByRole("link", { name: "Account" }).click()
    await page.waitForURL(`${origin}/account`)
    await page.getByRole("heading", { name: account }).waitFor()
    await shows(page, "Ada Lovelace")
  },

  "forms work without scripts": async (page) => {
    await page.goto(origin + plain)
    if (!hasForm && plain === "/") await page.getByRole("button", { name: "Sign in" }).click()
    await fillIn(page)
    await shows(page, "Ada Lovelace", server)
    if (!plainSignOut) return
    await page.getByRole("button", { name: "Sign out" }).click()
    await shows(page, nobody)
    await page.goto(`${origin}/files/`)
    await page.waitForURL(atSignIn)
  },

  "an OpenID provider signs somebody in": async (page, context) => {
    await toForm(page)
    await page.getByRole("button", { name: /^Sign in with (the provider|IdP)$/ }).click()
    await page.locator("input[name=login]").fill("alice")
    await page.locator("input[name=password]").fill("anything")
    await page.getByRole("button").first().click()
    await page.getByRole("button", { name: /continue/i }).click()
    await page.waitForURL(`${origin}/`)
    await shows(page, "alice")
    await serverShows(context, "alice")
  },

  "a new name is known to the server and to other tabs": async (page, context) => {
    await signIn(page)
    const other = await context.newPage()
    await open(other, client)
    await open(page, client)
    await page.getByLabel("Name").fill("Countess <Lovelace> & Zoë")
    await page.getByRole("button", { name: "Change" }).click()
    await shows(page, "Countess <Lovelace> & Zoë")
    await serverShows(context, "Countess <Lovelace> & Zoë")
    await shows(other, "Countess <Lovelace> & Zoë")
    await page.getByRole("link", { name: "Home" }).click()
    await shows(page, "Countess <Lovelace> & Zoë")
  },

  "who signs out is signed out in other tabs": async (page, context) => {
    await signIn(page)
    const tab = await context.newPage()
    await open(tab, client)
    await shows(tab, "Ada Lovelace")
    const home = await context.newPage()
    await open(home, "/")
    await shows(home, "Ada Lovelace")
    const inside = await context.newPage()
    await open(inside, "/account")
    if (signOutAt !== "/") await open(page, signOutAt)
    await page.getByRole("button", { name: "Sign out" }).click()
    await shows(page, nobody)
    await shows(tab, nobody)
    if (!follows) await Promise.all([home, inside].map((page) => page.reload()))
    await shows(home, nobody)
    await serverShows(context, nobody)
    await inside.waitForURL(atSignIn)
    assert.deepEqual((await context.cookies()).filter(({ name }) => name.includes("session-token")), [])
  },

  "who signs in is signed in in other tabs": async (page, context) => {
    const tab = await context.newPage()
    await open(tab, client)
    await shows(tab, nobody)
    await signIn(page)
    await open(page, client)
    await shows(tab, "Ada Lovelace")
  },

  "nothing is left in a shared cache": async (page, context) => {
    await signInAtHandler(context)
    for (const path of ["/", "/account", `${base}/session`]) {
      const response = await context.request.get(origin + path)
      assert.match(await response.text(), /Ada Lovelace/)
      assert.match(response.headers()["cache-control"], /no-store|private/, path)
    }
  },

  "somebody stays until the handler is down": async (_, context) => {
    await signInAtHandler(context)
    await context.storageState({ path: state })
  },
}

const down = {
  "somebody signed in is neither shown nor signed out": async (_, context) => {
    const known = await browser.newContext({ storageState: state })
    const page = await known.newPage()
    const visits = []
    page.on("request", (request) => request.isNavigationRequest() && visits.push(request.url()))
    await open(page, "/")
    await shows(page, unknown)
    await open(page, client)
    await shows(page, lookAlike ? nobody : unknown)
    const response = await open(page, "/account")
    assert.equal(response.status(), 503)
    assert.match(await page.innerText("body"), /can't be found out at the moment/)
    assert.equal(page.url(), `${origin}/account`)
    assert.equal(visits.length, 3, visits.join("\n"))
    const kept = (await known.cookies()).filter(({ name }) => name.startsWith("authjs.session-token"))
    assert.equal(kept.length, 1, "the session cookie is lost")
    await known.close()
  },

  "a stranger can't sign in, and goes in no circle": async (page) => {
    await open(page, "/")
    await shows(page, nobody)
    await fillIn(page)
    if (lookAlike) await page.waitForURL(`${origin}${base}/error`) // where it leads when it gets no providers
    else await page.getByRole("alert").filter({ hasText: unknown }).waitFor()
    const response = await open(page, "/account")
    assert.ok(response.status() >= 500, `status ${response.status()}`)
    assert.match(page.url(), /\/signin\?callbackUrl=/)
  },
}

try {
  for (const [name, told] of Object.entries(edge === "up" ? up : down)) {
    const context = await browser.newContext({ javaScriptEnabled: !name.endsWith("without scripts") })
    context.setDefaultTimeout(60_000)
    const page = await context.newPage()
    const begun = Date.now()
    try {
      await told(page, context)
      console.log(`ok ${app}: ${name} (${Date.now() - begun} ms)`)
    } catch (error) {
      if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${app}-${name.replace(/\W+/g, "-")}.png` })
      console.log(`FAILED ${app}: ${name}\n${error.stack}\nat ${page.url()}\n${(await page.innerText("body").catch(() => "")).slice(0, 500)}`)
      process.exitCode = 1
    } finally {
      await context.close()
    }
  }
} finally {
  await browser.close()
}
