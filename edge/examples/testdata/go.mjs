// Tells what people do in an example app in Go, with Chromium: go.mjs NAME ORIGIN BASE. People sign
// in on the handler's own page.
import assert from "node:assert/strict"
import { createRequire } from "node:module"

const { chromium } = createRequire(new URL("../../worker/package.json", import.meta.url))("playwright-core")
const [app, origin, base] = process.argv.slice(2)
const { rendered, client } = {
  site: { rendered: ["/", "#user"], client: ["/client", "#user"] },
  api: { rendered: ["/", "#server"], client: ["/", "#user"] },
}[app]
const nobody = "Nobody is signed in."

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
})

const shows = (page, selector, text) => page.locator(selector).filter({ hasText: text }).waitFor()
async function sees(page, [path, selector], text) {
  await page.goto(origin + path)
  await shows(page, selector, text)
}
const atSignIn = (url) => url.pathname === `${base}/signin`

async function fillIn(page, password = "engine") {
  await page.getByLabel("Name").fill("ada")
  await page.getByLabel("Password").fill(password)
  await page.getByRole("button", { name: "Sign in with Credentials" }).click()
}

async function signIn(page) {
  await page.goto(`${origin}/account`)
  await page.waitForURL(atSignIn)
  await fillIn(page)
  await page.waitForURL((url) => !atSignIn(url))
}

const stories = {
  "a stranger is told so, and kept out": async (page) => {
    await sees(page, rendered, nobody)
    await sees(page, client, nobody)
    await page.goto(`${origin}/account`)
    await page.waitForURL(atSignIn)
  },

  "a wrong password is told, the right one signs in": async (page) => {
    await page.goto(`${origin}/account`)
    await fillIn(page, "wrong")
    await page.getByRole("alert").waitFor()
    await fillIn(page)
    await page.waitForURL((url) => !atSignIn(url))
    await sees(page, rendered, "Ada Lovelace")
    await sees(page, client, "Ada Lovelace")
    await page.goto(`${origin}/account`)
    assert.equal(page.url(), `${origin}/account`)
    await page.getByText("Ada Lovelace").first().waitFor()
  },

  "an OpenID provider signs somebody in": async (page) => {
    await page.goto(`${origin}${base}/signin`)
    await page.getByRole("button", { name: "Sign in with IdP" }).click()
    await page.locator("input[name=login]").fill("alice")
    await page.locator("input[name=password]").fill("anything")
    await page.getByRole("button").first().click()
    await page.getByRole("button", { name: /continue/i }).click()
    await page.waitForURL((url) => url.origin === origin)
    await sees(page, rendered, "alice")
  },

  "a new name is known to the server and to other tabs": async (page, context) => {
    await signIn(page)
    const other = await context.newPage()
    await sees(other, client, "Ada Lovelace")
    await sees(page, client, "Ada Lovelace")
    await page.getByLabel("Name").fill("Countess <Lovelace> & Zoë")
    await page.getByRole("button", { name: "Change" }).click()
    await shows(page, client[1], "Countess <Lovelace> & Zoë")
    await sees(page, rendered, "Countess <Lovelace> & Zoë")
  },

  "who signs out is signed out in other tabs": async (page, context) => {
    await signIn(page)
    const other = await context.newPage()
    await sees(other, client, "Ada Lovelace")
    await sees(page, client, "Ada Lovelace")
    await page.getByRole("button", { name: "Sign out" }).click()
    await shows(page, client[1], nobody)
    await shows(other, client[1], nobody)
    await sees(page, rendered, nobody)
    await page.goto(`${origin}/account`)
    await page.waitForURL(atSignIn)
  },
}

if (app === "site") {
  stories["forms sign in and out without scripts"] = async (page) => {
    await page.goto(origin)
    await page.getByRole("button", { name: "Sign in" }).click()
    await fillIn(page)
    await shows(page, "#user", "Ada Lovelace")
    await page.getByRole("button", { name: "Sign out" }).click()
    await shows(page, "#user", nobody)
    await page.goto(`${origin}/files/`)
    await page.waitForURL(atSignIn)
  }
}

try {
  for (const [name, told] of Object.entries(stories)) {
    const context = await browser.newContext({ javaScriptEnabled: !/without scripts/.test(name) })
    context.setDefaultTimeout(15_000)
    const page = await context.newPage()
    try {
      await told(page, context)
      console.log(`ok ${app}: ${name}`)
    } catch (error) {
      console.log(`FAILED ${app}: ${name}\n${error.stack}\nat ${page.url()}\n${(await page.innerText("body").catch(() => "")).slice(0, 500)}`)
      process.exitCode = 1
    } finally {
      await context.close()
    }
  }
} finally {
  await browser.close()
}
