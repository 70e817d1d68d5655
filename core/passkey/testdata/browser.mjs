// Signs people in with passkeys in Chromium, as a test: node browser.mjs SITE MIXED TOOLS
// SITE and MIXED are those of browser_test.go: with passkeys alone, and with passkeys between other
// ways to sign in. TOOLS is a folder with playwright-core and axe-core installed.
// SCREENSHOTS, if set, is a folder for pictures of the sign-in page.
import assert from "node:assert/strict"
import fs from "node:fs"
import { createRequire } from "node:module"
import path from "node:path"

const [site, mixed, tools] = process.argv.slice(2)
const require = createRequire(path.resolve(tools, "package.json"))
const { chromium } = require("playwright-core")
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8")
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
})

/** A page with virtual authenticators. Nothing may be loaded from elsewhere, or be blocked. */
async function story(name, tell, { noAutofill, ...options } = {}) {
  const context = await browser.newContext({ bypassCSP: false, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const wrong = []
  page.on("request", (r) => r.url().startsWith(site) || r.url().startsWith(mixed) || wrong.push(`a request to ${r.url()}`))
  page.on("console", (m) => /Content Security Policy/.test(m.text()) && wrong.push(m.text()))
  page.on("pageerror", (e) => wrong.push(String(e)))
  if (noAutofill) await page.addInitScript(() => delete PublicKeyCredential.isConditionalMediationAvailable)
  const cdp = await context.newCDPSession(page)
  await cdp.send("WebAuthn.enable", { enableUI: false })
  try {
    await tell(page, cdp)
    assert.deepEqual(wrong, [])
    console.log(`ok ${name}`)
  } catch (e) {
    throw new Error(`${name}: ${e.message}\n${wrong.join("\n")}\nat ${page.url()}\n${(await page.innerText("body").catch(() => "")).slice(0, 500)}`)
  } finally {
    await context.close()
  }
}

const authenticator = async (cdp, options = {}) =>
  (await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2", ctap2Version: "ctap2_1", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true,
      automaticPresenceSimulation: true, ...options,
    },
  })).authenticatorId
const present = (cdp, authenticatorId, enabled) => cdp.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled })
const unplug = (cdp, authenticatorId) => cdp.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId })

let people = 0
const address = () => `person${++people}@example.com`
const sees = (page, text) => page.getByText(text).first().waitFor()
const toSignIn = async (page) => {
  await page.goto(`${site}/auth/signin`)
  await page.getByRole("button").first().waitFor()
}
const signOut = async (page) => {
  await page.goto(`${site}/auth/signout`)
  await page.getByRole("button", { name: "Sign out" }).click()
  await sees(page, "You are signed out.")
}
const register = async (page, email) => {
  await toSignIn(page)
  await page.getByLabel("Email").fill(email)
  await page.getByRole("button", { name: "Sign in with Passkey" }).click()
  await sees(page, `Signed in as ${email}`)
}
const press = async (page) => {
  await toSignIn(page)
  await page.getByRole("button", { name: "Sign in with Passkey" }).click()
}
const accessible = async (page) => {
  await page.evaluate(axe) // through the debugger: the page's policy forbids other scripts
  const { violations } = await page.evaluate(() => globalThis.axe.run())
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(" ")}`), [])
}

// A virtual authenticator takes a passkey that is offered in a field at once. Where a button is to be
// pressed, the browser therefore is one that can't offer it.
const noAutofill = { noAutofill: true }

try {
  await story("somebody registers, signs out, and signs in without typing", async (page, cdp) => {
    const key = await authenticator(cdp)
    const email = address()
    await register(page, email)
    const { credentials } = await cdp.send("WebAuthn.getCredentials", { authenticatorId: key })
    assert.equal(credentials.length, 1)
    assert.equal(credentials[0].isResidentCredential, true)
    assert.equal(credentials[0].rpId, "localhost")
    await signOut(page)
    await press(page)
    await sees(page, `Signed in as ${email}`)
  }, noAutofill)

  await story("a known address signs in", async (page, cdp) => {
    await authenticator(cdp)
    const email = address()
    await register(page, email)
    await signOut(page)
    await toSignIn(page)
    await page.getByLabel("Email").fill(email.toUpperCase())
    await page.keyboard.press("Enter")
    await sees(page, `Signed in as ${email}`)
  }, noAutofill)

  await story("a passkey is picked in the field", async (page, cdp) => {
    await authenticator(cdp)
    const email = address()
    await register(page, email)
    await signOut(page)
    await page.goto(`${site}/auth/signin`) // the browser offers the passkey, and the virtual person takes it
    await sees(page, `Signed in as ${email}`)
  })

  await story("the button is pressed while passkeys are offered in the field", async (page, cdp) => {
    const key = await authenticator(cdp)
    const email = address()
    await register(page, email)
    await signOut(page)
    await present(cdp, key, false) // nobody takes it
    const asked = page.waitForResponse((r) => r.url().includes("/webauthn-options/"))
    await toSignIn(page)
    await asked
    await present(cdp, key, true)
    await page.getByRole("button", { name: "Sign in with Passkey" }).click({ timeout: 2000 }).catch(() => {}) // or somebody did take it
    await sees(page, `Signed in as ${email}`)
  })

  await story("a second device", async (page, cdp) => {
    const phone = await authenticator(cdp)
    const email = address()
    await register(page, email)
    await toSignIn(page)
    await page.getByRole("button", { name: "Add a passkey" }).click()
    await sees(page, "This device has a passkey of yours already.")
    await accessible(page)
    await unplug(cdp, phone)
    await authenticator(cdp)
    await page.getByRole("button", { name: "Add a passkey" }).click()
    await sees(page, `Signed in as ${email}`)
    await signOut(page)
    await press(page)
    await sees(page, `Signed in as ${email}`)
  }, noAutofill)

  await story("a synchronised passkey", async (page, cdp) => {
    await authenticator(cdp, { defaultBackupEligibility: true, defaultBackupState: true })
    const email = address()
    await register(page, email)
    await signOut(page)
    await page.goto(`${site}/auth/signin`)
    await sees(page, `Signed in as ${email}`)
  })

  await story("a cloned authenticator is refused", async (page, cdp) => {
    const key = await authenticator(cdp)
    const email = address()
    await register(page, email)
    const { credentials: [credential] } = await cdp.send("WebAuthn.getCredentials", { authenticatorId: key })
    await signOut(page)
    await press(page)
    await sees(page, `Signed in as ${email}`)
    await unplug(cdp, key)
    const clone = await authenticator(cdp)
    await cdp.send("WebAuthn.addCredential", { authenticatorId: clone, credential })
    await signOut(page)
    await press(page)
    await sees(page, "Something went wrong")
    assert.match(page.url(), /error=WebAuthnVerificationError$/)
    assert.equal(await (await page.request.get(`${site}/auth/session`)).json(), null)
  }, noAutofill)

  await story("nobody is at the authenticator", async (page, cdp) => {
    await authenticator(cdp, { isUserVerified: false })
    await toSignIn(page)
    await page.getByLabel("Email").fill(address())
    await page.getByRole("button", { name: "Sign in with Passkey" }).click()
    await sees(page, "No passkey was used")
    await accessible(page)
  })

  await story("a challenge that has waited is renewed", async (page, cdp) => {
    await authenticator(cdp)
    await page.clock.install()
    await page.addInitScript(() => { // nobody takes what is offered
      navigator.credentials.get = ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
    })
    const asked = () => page.waitForResponse((r) => r.url().includes("/webauthn-options/"))
    const first = asked()
    await toSignIn(page)
    await first
    const second = asked()
    await page.clock.fastForward(10 * 60 * 1000 + 1000)
    await second
    await register(page, address())
  })

  await story("without JavaScript there is no form that would not work", async (page) => {
    await page.goto(`${site}/auth/signin`)
    assert.match(await page.innerText("body"), /Passkeys need JavaScript\./)
    assert.equal(await page.getByRole("button", { name: "Sign in with Passkey" }).isVisible(), false)
  }, { javaScriptEnabled: false })

  await story("a browser that knows no passkeys shows the other ways only", async (page) => {
    await page.addInitScript(() => delete window.PublicKeyCredential)
    await page.goto(`${mixed}/auth/signin`)
    await page.getByRole("button", { name: "Sign in with Hub" }).waitFor()
    assert.equal(await page.getByRole("button", { name: "Sign in with Passkey" }).isVisible(), false)
    assert.equal(await page.locator("hr:visible").count(), 1)
    assert.equal(await page.locator("hr").count(), 2)
    await accessible(page)
  })

  for (const colorScheme of ["light", "dark"])
    await story(`passkeys between other ways, and a message, ${colorScheme}`, async (page, cdp) => {
      await authenticator(cdp, { isUserVerified: false })
      await page.goto(`${mixed}/auth/signin`)
      await page.locator("#input-email-for-passkey-provider").fill(address())
      await page.getByRole("button", { name: "Sign in with Passkey" }).click()
      await sees(page, "No passkey was used")
      assert.equal(await page.locator("hr:visible").count(), 2)
      await accessible(page)
      if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/mixed-${colorScheme}.png`, fullPage: true })
    }, { colorScheme, viewport: { width: 390, height: 844 }, noAutofill: true })

  for (const colorScheme of ["light", "dark"])
    for (const width of [1280, 390])
      await story(`the page is accessible, ${colorScheme}, ${width} pixels`, async (page, cdp) => {
        await authenticator(cdp, { automaticPresenceSimulation: false })
        await toSignIn(page)
        assert.equal(await page.evaluate(() => document.activeElement.name), "email")
        await accessible(page)
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth), false, "the page scrolls sideways")
        if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/passkey-${colorScheme}-${width}.png` })
      }, { colorScheme, viewport: { width, height: 844 } })
} finally {
  await browser.close()
}
