// Signs a person in with Chromium, as a test: node browser.mjs SITE
// SITE is the demo (wasmtest/demo) on any runtime, with idp.mjs as its OpenID provider.
import assert from "node:assert/strict"
import fs from "node:fs"
import { createRequire } from "node:module"
import { chromium } from "playwright-core"

const site = new URL(process.argv[2]).origin
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
})

/** Runs one story in a browser of its own. Pages of the site must load nothing from elsewhere. */
async function story(name, tell, options = {}) {
  const context = await browser.newContext({ bypassCSP: false, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const foreign = []
  page.on("request", (r) => {
    const from = r.frame().url()
    if (from.startsWith(site) && !r.isNavigationRequest() && !r.url().startsWith(site) && !r.url().startsWith("data:")) foreign.push(r.url())
  })
  const violations = []
  page.on("console", (m) => m.type() === "error" && /Content Security Policy/.test(m.text()) && violations.push(m.text()))
  try {
    await tell(page, context)
    assert.deepEqual(foreign, [], "requests to a third party")
    assert.deepEqual(violations, [], "blocked by the page's own policy")
    console.log(`ok ${name}`)
  } catch (e) {
    const shot = process.env.SCREENSHOTS && `${process.env.SCREENSHOTS}/${name.replace(/\W+/g, "-")}.png`
    if (shot) await page.screenshot({ path: shot })
    throw new Error(`${name}: ${e.message}\nat ${page.url()}\n${(await page.innerText("body").catch(() => "")).slice(0, 500)}`)
  } finally {
    await context.close()
  }
}

const sees = async (page, text) => {
  await page.getByText(text).first().waitFor()
}
const session = async (page) => (await page.request.get(`${site}/auth/session`)).json()
const toSignIn = async (page) => {
  await page.goto(site)
  await sees(page, "You are signed out.")
  await page.getByRole("link", { name: "Sign in" }).click()
  await page.getByRole("button", { name: "Sign in with a name" }).waitFor()
}
const toProvider = async (page) => {
  await toSignIn(page)
  await page.getByRole("button", { name: "Sign in with the local provider" }).click()
  await page.locator("input[name=login]").waitFor()
}
const accessible = async (page) => {
  await page.evaluate(axe) // through the debugger: the page's policy forbids scripts
  const { violations } = await page.evaluate(() => globalThis.axe.run())
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(" ")}`), [])
}

try {
  await story("an OpenID provider signs somebody in, and they sign out", async (page) => {
    await toProvider(page)
    await page.locator("input[name=login]").fill("alice")
    await page.locator("input[name=password]").fill("anything")
    await page.getByRole("button").first().click()
    await page.getByRole("button", { name: /continue/i }).click()
    await sees(page, "Signed in as alice")
    const is = await session(page)
    assert.equal(is.user.email, "alice@example.com")
    assert.ok(Date.parse(is.expires) > Date.now() + 29 * 86400e3)
    await page.getByRole("link", { name: "Sign out" }).click()
    await sees(page, "Are you sure you want to sign out?")
    await accessible(page)
    await page.getByRole("button", { name: "Sign out" }).click()
    await sees(page, "You are signed out.")
    assert.equal(await session(page), null)
  })

  await story("a name and a password, with the keyboard alone", async (page) => {
    await toSignIn(page)
    for (let i = 0; i < 12 && !(await page.evaluate(() => document.activeElement?.name === "username")); i++) await page.keyboard.press("Tab")
    await page.keyboard.type("kim")
    await page.keyboard.press("Tab")
    await page.keyboard.type("demo")
    await page.keyboard.press("Enter")
    await sees(page, "Signed in as kim")
    assert.equal((await session(page)).user.name, "kim")
  })

  await story("a wrong password is told, and read out", async (page) => {
    await toSignIn(page)
    await page.getByLabel("Name").fill("kim")
    await page.getByLabel("Password").fill("wrong")
    await page.getByRole("button", { name: "Sign in with a name" }).click()
    const alert = page.getByRole("alert")
    await alert.waitFor()
    assert.match(await alert.innerText(), /Sign in failed/)
    assert.match(page.url(), /error=CredentialsSignin&code=credentials/)
    await accessible(page)
    assert.equal(await session(page), null)
  })

  await story("the provider refuses", async (page) => {
    await toProvider(page)
    await page.getByRole("link", { name: /cancel/i }).click()
    await page.getByRole("alert").waitFor()
    assert.match(await page.getByRole("alert").innerText(), /Try signing in with a different account/)
    assert.match(page.url(), /signin\?error=OAuthCallbackError/)
    assert.equal(await session(page), null)
  })

  await story("a tampered check cookie ends at the error page", async (page, context) => {
    await toProvider(page)
    const [pkce] = (await context.cookies(site)).filter((c) => c.name === "authjs.pkce.code_verifier")
    await context.addCookies([{ ...pkce, value: pkce.value.slice(0, -3) + "AAA" }])
    await page.locator("input[name=login]").fill("mallory")
    await page.locator("input[name=password]").fill("anything")
    await page.getByRole("button").first().click()
    await page.getByRole("button", { name: /continue/i }).click()
    await page.getByRole("heading", { name: "Server error" }).waitFor()
    await accessible(page)
    assert.equal(await session(page), null)
  })

  await story("a tampered session cookie is nobody's", async (page, context) => {
    await toSignIn(page)
    await page.getByLabel("Name").fill("kim")
    await page.getByLabel("Password").fill("demo")
    await page.getByRole("button", { name: "Sign in with a name" }).click()
    await sees(page, "Signed in as kim")
    const [cookie] = (await context.cookies(site)).filter((c) => c.name === "authjs.session-token")
    assert.equal(cookie.httpOnly, true)
    assert.equal(cookie.sameSite, "Lax")
    const at = Math.floor(cookie.value.length / 2)
    await context.addCookies([{ ...cookie, value: cookie.value.slice(0, at) + (cookie.value[at] === "A" ? "B" : "A") + cookie.value.slice(at + 1) }])
    await page.goto(site)
    await sees(page, "You are signed out.")
    assert.equal((await context.cookies(site)).filter((c) => c.name.startsWith("authjs.session-token")).length, 0)
  })

  for (const colorScheme of ["light", "dark"])
    await story(`the pages are accessible on a phone, ${colorScheme}`, async (page) => {
      await toSignIn(page)
      await accessible(page)
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)
      assert.equal(wide, false, "the page scrolls sideways")
      for (const path of ["/auth/error?error=AccessDenied", "/auth/error?error=Verification", "/auth/error", "/auth/verify-request"]) {
        await page.goto(site + path)
        await accessible(page)
      }
    }, { colorScheme, viewport: { width: 390, height: 844 } })
} finally {
  await browser.close()
}
