// Runs the reference worker on workerd with wrangler dev, and a local OpenID provider to sign
// in at. A .dev.vars file next to wrangler.toml wins over the settings made up here.
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import path from "node:path"
import { fileURLToPath } from "node:url"

const here = path.dirname(fileURLToPath(import.meta.url))
const site = "http://localhost:8787"
const idp = "127.0.0.1:9400"
const settings = {
  AUTH_SECRET: randomBytes(32).toString("hex"),
  AUTH_URL: `${site}/auth`,
  AUTH_PROVIDERS: "idp",
  AUTH_IDP_NAME: "the local provider",
  AUTH_IDP_ISSUER: `http://${idp}`,
  AUTH_IDP_ID: "demo",
  AUTH_IDP_SECRET: "demo-secret",
}

const children = []
const end = (code) => {
  for (const c of children) c.kill("SIGTERM")
  process.exitCode = code
}
const run = (command, args, env = {}) => {
  const child = spawn(command, args, { stdio: "inherit", env: { ...process.env, ...env } })
  children.push(child)
  child.on("exit", (code) => end(code ?? 0))
}
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => end(0))

console.log(`Open ${site}/auth/signin and sign in with any name; the session is at ${site}/auth/session.`)
run(process.execPath, [path.join(here, "idp.mjs")], { ADDR: idp, REDIRECT_URIS: `${site}/auth/callback/idp` })
const vars = Object.entries(settings).flatMap(([name, value]) => ["--var", `${name}:${value}`])
run(path.join(here, "node_modules/.bin/wrangler"), ["dev", "--port", "8787", ...vars], { WRANGLER_SEND_METRICS: "false" })
