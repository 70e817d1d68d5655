// Writes env.json: what @auth/core makes of environment variables and request headers.
// node env.mjs <folder of @auth/core> > env.json
import { pathToFileURL } from "node:url"

const { createActionURL, setEnvDefaults } = await import(pathToFileURL(process.argv[2] + "/index.js"))
const logger = { error() {}, warn() {}, debug() {} }

const urls = []
for (const env of [
  {},
  { AUTH_URL: "https://site.example" },
  { AUTH_URL: "https://site.example/" },
  { AUTH_URL: "https://site.example/api/auth" },
  { AUTH_URL: "https://site.example/api/auth/" },
  { AUTH_URL: "HTTPS://Site.Example:443/A B" },
  { AUTH_URL: "http://site.example:8080/x" },
  { AUTH_URL: "site.example" },
  { NEXTAUTH_URL: "https://next.example/api/auth" },
  { AUTH_URL: "https://site.example", NEXTAUTH_URL: "https://next.example" },
]) {
  for (const basePath of [undefined, "/", "/auth", "auth", "/auth/", "/api/auth", "//auth//", "/a/../b", "/ä b"]) {
    urls.push({ action: "signin", protocol: "http", headers: { host: "a.example:8080" }, env, basePath })
  }
}
for (const [protocol, headers] of [
  [undefined, { host: "a.example" }],
  ["http:", { host: "a.example:80" }],
  ["http", { host: "a.example", "x-forwarded-host": "b.example", "x-forwarded-proto": "https" }],
  ["https", { host: "A.Example:443" }],
  ["http", { host: "a.example", "x-forwarded-proto": "https:" }],
  ["https", { host: "a.example", "x-forwarded-proto": "HTTP" }],
  ["http", { host: "[::1]:3000" }],
  ["http", { host: "0x7f.1" }],
  ["http", { host: "a.example:99999" }],
  ["http", { host: "a b" }],
  ["http", { host: "a.example", "x-forwarded-host": "b.example:8080" }],
  ["http", { host: "a.example", "x-forwarded-host": "b.example, c.example" }],
  ["http", { host: "a.example", "x-forwarded-proto": "https,http" }],
]) {
  urls.push({ action: "webauthn-options", protocol, headers, env: {}, basePath: "/auth" })
}
for (const one of urls) {
  try {
    const { action, protocol, headers, env, basePath } = one
    one.url = createActionURL(action, protocol, new Headers(headers), env, { basePath, logger }).toString()
  } catch {} // no url: it threw
}

const defaults = []
const oauth = { id: "my-idp", type: "oauth" }
for (const [env, config] of [
  [{}, {}],
  [{ AUTH_SECRET: "0" }, {}],
  [{ AUTH_SECRET_1: "1" }, {}],
  [{ AUTH_SECRET: "0", AUTH_SECRET_1: "1", AUTH_SECRET_2: "2", AUTH_SECRET_3: "3" }, {}],
  [{ AUTH_SECRET: "0", AUTH_SECRET_3: "3" }, {}],
  [{ AUTH_SECRET: "0", AUTH_SECRET_4: "4" }, {}],
  [{ AUTH_SECRET: "0" }, { secret: ["mine"] }],
  [{ AUTH_SECRET: "0" }, { secret: [] }],
  [{ AUTH_URL: "https://site.example" }, {}],
  [{ AUTH_URL: "https://site.example/" }, {}],
  [{ AUTH_URL: "https://site.example/api/auth" }, {}],
  [{ AUTH_URL: "https://site.example/api/auth/" }, {}],
  [{ AUTH_URL: "https://site.example/api/auth?x=y#z" }, {}],
  [{ AUTH_URL: "https://site.example/a/../b" }, {}],
  [{ AUTH_URL: "site.example" }, {}],
  [{ AUTH_URL: "https://site.example/api/auth" }, { basePath: "/mine" }],
  [{}, { basePath: "/mine" }],
  [{ AUTH_REDIRECT_PROXY_URL: "https://proxy.example/auth" }, {}],
  [{ AUTH_REDIRECT_PROXY_URL: "https://proxy.example/auth" }, { redirectProxyUrl: "https://mine.example/auth" }],
  [{ AUTH_TRUST_HOST: "true" }, {}],
  [{ VERCEL: "1" }, {}],
  [{ CF_PAGES: "1" }, {}],
  [{ AUTH_MY_IDP_ID: "id", AUTH_MY_IDP_SECRET: "secret", AUTH_MY_IDP_ISSUER: "https://idp.example" }, {}],
  [{ AUTH_MY_IDP_ID: "id", AUTH_MY_IDP_SECRET: "secret" }, { clientId: "mine", issuer: "https://mine.example" }],
  [{ "AUTH_MY-IDP_ID": "id", AUTH_my_idp_ID: "id", AUTH_IDP_ID: "id" }, {}],
]) {
  const { clientId, issuer, ...rest } = config
  const result = { ...rest, logger, providers: [{ ...oauth, clientId, issuer }] }
  if (rest.secret) result.secret = [...rest.secret]
  // Outside of production the reference trusts every host.
  setEnvDefaults({ NODE_ENV: "production", ...env }, result)
  const { basePath, secret, redirectProxyUrl, trustHost, providers } = result
  const { clientId: id, clientSecret, issuer: iss } = providers[0]
  defaults.push({ env, config, result: { basePath, secret, redirectProxyUrl, trustHost, clientId: id, clientSecret, issuer: iss } })
}

const lines = (list) => list.map((one) => "    " + JSON.stringify(one)).join(",\n")
process.stdout.write(`{\n  "urls": [\n${lines(urls)}\n  ],\n  "defaults": [\n${lines(defaults)}\n  ]\n}\n`)
