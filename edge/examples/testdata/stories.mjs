// Tells what people do in an example app, with Chromium: stories.mjs '{"Edge": "up", …}'. The
// fields are those of the type story in examples_test.go.
import assert from "node:assert/strict"
import { createRequire } from "node:module"

const { chromium } = createRequire(new URL("../../worker/package.json", import.meta.url))("playwright-core")
const { Edge: edge, Name: app, Origin: origin, Base: base, LookAlike: lookAlike, State: state } = JSON.parse(process.argv[2])
const nobody = "Nobody is signed in."
const unknown = "Try again later."

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
})

/** Goes to a page, and waits until its scripts have taken over. */
const open = (page, path) => page.goto(origin + path, { waitUntil: "networkidle" })

/** Waits until the page shows a name, or says that there is none. */
async function shows(page, text) {
  const user = page.locator("#user")
  await user.filter({ hasText: text }).waitFor({ timeout: 10_000 }).catch(async () => {
    assert.equal((await user.textContent({ timeout: 100 }).catch(() => "a page without #user")).trim(), text)
  })
}

/** What the server knows of who has these cookies: the page as it is without scripts. */
async function serverShows(context, text) {
  const plain = await browser.newContext({ javaScriptEnabled: false, storageState: await context.storageState() })
  const page = await plain.newPage()
  await page.goto(origin)
  await shows(page, text)
  await plain.close()
}

async function fillIn(page, name = "ada", password = "engine") {
  await page.getByLabel("Name").fill(name)
  await page.getByLabel("Password").fill(password)
  await page.getByRole("button", { name: /^Sign in( with Credentials)?$/ }).click()
}

async function signIn(page) {
  await open(page, "/")
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

const signOut = (page) => page.getByRole("button", { name: "Sign out" }).click()

const up = {
  "a stranger is told so, and kept out": async (page) => {
    await open(page, "/")
    await shows(page, nobody)
    await open(page, "/client")
    await shows(page, nobody)
    for (const go of [() => page.goto(`${origin}/account`), () => open(page, "/").then(() => page.getByRole("link", { name: "Account" }).click())]) {
      await go()
      await page.waitForURL((url) => url.pathname === `${base}/signin` && /\/account$/.test(url.searchParams.get("callbackUrl")))
    }
    const answer = await page.request.get(`${origin}/account`, { headers: { accept: "application/json" } })
    assert.equal(answer.status(), 401, "for a script")
  },

  "somebody signs in where the account was": async (page) => {
    await page.goto(`${origin}/account`)
    await fillIn(page)
    await page.waitForURL(`${origin}/account`)
    await shows(page, "Ada Lovelace")
  },

  "a wrong password is told, the right one signs in": async (page, context) => {
    await open(page, "/")
    await fillIn(page, "ada", "wrong")
    await page.getByRole("alert").filter({ hasText: "wrong" }).waitFor()
    await fillIn(page)
    await shows(page, "Ada Lovelace")
    await serverShows(context, "Ada Lovelace")
    await open(page, "/client")
    await shows(page, "Ada Lovelace")
    await page.getByRole("link", { name: "Account" }).click()
    await page.waitForURL(`${origin}/account`)
    await page.getByRole("heading", { name: "Account" }).waitFor()
    await shows(page, "Ada Lovelace")
  },

  "the form works without scripts": async (page) => {
    await page.goto(origin)
    await fillIn(page)
    await shows(page, "Ada Lovelace")
  },

  "an OpenID provider signs somebody in": async (page, context) => {
    await open(page, "/")
    await page.getByRole("button", { name: "Sign in with the provider" }).click()
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
    await open(other, "/client")
    await open(page, "/client")
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
    const client = await context.newPage()
    await open(client, "/client")
    await shows(client, "Ada Lovelace")
    const server = await context.newPage()
    await open(server, "/")
    await shows(server, "Ada Lovelace")
    const account = await context.newPage()
    await open(account, "/account")
    await signOut(page)
    await shows(page, nobody)
    await shows(client, nobody)
    await shows(server, nobody)
    await serverShows(context, nobody)
    await account.waitForURL((url) => url.pathname === `${base}/signin`)
    assert.deepEqual((await context.cookies()).filter(({ name }) => name.includes("session-token")), [])
  },

  "who signs in is signed in in other tabs": async (page, context) => {
    const client = await context.newPage()
    await open(client, "/client")
    await shows(client, nobody)
    await signIn(page)
    await open(page, "/client")
    await shows(client, "Ada Lovelace")
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
    await open(page, "/client")
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
    const context = await browser.newContext({ javaScriptEnabled: name !== "the form works without scripts" })
    context.setDefaultTimeout(15_000)
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
