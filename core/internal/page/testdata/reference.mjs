// Writes reference.json: what the pages of @auth/core say, for page_test.go.
//   node reference.mjs FOLDER      a copy of shared/conformance with its packages installed
import fs from "node:fs"
import path from "node:path"
import { pathToFileURL } from "node:url"

const [folder] = process.argv.slice(2)
const load = (name) => import(pathToFileURL(path.resolve(folder, name)))
const { Auth } = await load("node_modules/@auth/core/index.js")
const { makeConfig } = await load("reference.mjs")
const { memoryAdapter } = await load("lib/memory-adapter.mjs")
const { summarise } = await load("lib/html.mjs")

const O = "https://app.example"
const CSRFToken = "<hex64>" // what summarise makes of a token
const CallbackURL = O
const theme = { BrandColor: "#0ea5e9" } // of makeConfig
const oauth = (ID, Name, BrandColor) => ({ ID, Name, Kind: 0, Action: `${O}/auth/signin/${ID}`, BrandColor })
const idp = oauth("idp", "IdP"), hub = oauth("hub", "Hub")
const credentials = {
  ID: "credentials", Name: "Credentials", Kind: 2, Action: `${O}/auth/callback/credentials`,
  Fields: [{ Name: "username", Type: "text" }, { Name: "password", Type: "password" }],
}
const email = { ID: "email", Name: "Email", Kind: 1, Action: `${O}/auth/signin/email` }
const signIn = { ...theme, CSRFToken, CallbackURL, Providers: [credentials, idp, hub] }
const kv = { CONF_ADAPTER: "kv" }

// The same in the words of the reference.
const refOAuth = (id, name, brandColor) => ({ id, name, type: "oauth", clientId: "x", clientSecret: "x", authorization: "https://idp.example/a", token: "https://idp.example/t", userinfo: "https://idp.example/u", style: brandColor && { brandColor } })
const refCredentials = (id, name, fields) => ({ id, name, type: "credentials", authorize: () => null, credentials: fields })
const refEmail = (id, name) => ({ id, name, type: "email", sendVerificationRequest() {} })
const providers = (...list) => (config) => void (config.providers = list)
const signInWith = (...Providers) => ({ ...signIn, Providers })
const hostile = `<b>"x"</b> & 'y' &amp; ü 😀`

/** name, path, what our page is made from, environment, changes to the reference's configuration */
const cases = [
  ["sign-in", "signin", signIn],
  ["sign-in with e-mail", "signin", { ...signIn, Providers: [credentials, idp, hub, email] }, kv],
  ["sign-in, address filled in", `signin?email=${encodeURIComponent(hostile)}`, { ...signIn, Email: hostile, Providers: [credentials, idp, hub, email] }, kv],
  ["sign-in, callbackUrl as given", "signin?callbackUrl=/a?b=c%26d=%3Ce%3E", { ...signIn, CallbackURL: "/a?b=c&d=<e>" }],
  ["sign-in, no callbackUrl", "signin?callbackUrl=", { ...signIn, CallbackURL: "" }],
  ["sign-in, check switched off", "signin", { ...signIn, CSRFToken: "" }, { CONF_SKIP_CSRF: "1" }],
  ["sign-in, token from the query", "signin?csrfToken=%22mine", { ...signIn, CSRFToken: '"mine' }],
  ["sign-in without a theme", "signin", { ...signIn, BrandColor: "" }, {}, (c) => void delete c.theme],
  ["sign-in, light", "signin", { ...signIn, ColorScheme: "light", BrandColor: "" }, {}, (c) => void (c.theme = { colorScheme: "light" })],
  ["sign-in, dark, text colour", "signin", { ...signIn, ColorScheme: "dark", BrandColor: "tomato", ButtonText: "black" }, {}, (c) => void (c.theme = { colorScheme: "dark", brandColor: "tomato", buttonText: "black" })],
  ...["Signin", "OAuthSignin", "OAuthCallbackError", "OAuthCreateAccount", "EmailCreateAccount", "Callback", "OAuthAccountNotLinked", "EmailSignin", "CredentialsSignin", "SessionRequired", "MissingCSRF", "Configuration", "default", "signin", "<script>", ""]
    .map((code) => [`sign-in, error ${code || "empty"}`, `signin?error=${encodeURIComponent(code)}`, { ...signIn, Error: code }]),
  ["one provider", "signin", signInWith(oauth("a", "A", "#123456")), {}, providers(refOAuth("a", "A", "#123456"))],
  ["eight providers", "signin", signInWith(...[..."abcdefgh"].map((x) => oauth(x, x))), {}, providers(...[..."abcdefgh"].map((x) => refOAuth(x, x)))],
  ["names with markup", "signin", signInWith(oauth("a", hostile)), {}, providers(refOAuth("a", hostile))],
  ["e-mail first", "signin", signInWith(email, idp), kv, providers(refEmail("email", "Email"), refOAuth("idp", "IdP"))],
  ["e-mail between buttons", "signin", signInWith(idp, email, hub), kv, providers(refOAuth("idp", "IdP"), refEmail("email", "Email"), refOAuth("hub", "Hub"))],
  ["e-mail after credentials", "signin", signInWith(credentials, email), kv, providers(refCredentials("credentials", "Credentials", { username: { type: "text" }, password: { type: "password" } }), refEmail("email", "Email"))],
  ["e-mail twice", "signin", signInWith(email, { ...email, ID: "post", Name: "Post", Action: `${O}/auth/signin/post` }), kv, providers(refEmail("email", "Email"), refEmail("post", "Post"))],
  ["credentials without a form", "signin", signInWith(idp, { ...credentials, Fields: [] }, hub), {}, providers(refOAuth("idp", "IdP"), refCredentials("credentials", "Credentials", undefined), refOAuth("hub", "Hub"))],
  ["credentials with everything", "signin",
    signInWith({ ...credentials, ID: "ldap", Name: "LDAP", Action: `${O}/auth/callback/ldap`, Fields: [
      { Name: "plain" },
      { Name: "full", Label: "Full <name>", Type: "search", Placeholder: 'Say "hi"', Value: "a & b", Autocomplete: "name", Required: true },
      { Name: "mail", Type: "email" }, { Name: "stay", Type: "checkbox", Value: "1" }, { Name: "kept", Type: "hidden", Value: "x" },
    ] }), {},
    providers(refCredentials("ldap", "LDAP", {
      plain: {}, full: { label: "Full <name>", type: "search", placeholder: 'Say "hi"', value: "a & b", autocomplete: "name", required: true },
      mail: { type: "email" }, stay: { type: "checkbox", value: "1" }, kept: { type: "hidden", value: "x" },
    }))],
  ["sign-out", "signout", { ...theme, CSRFToken, Action: `${O}/auth/signout` }],
  ["sign-out with a query", "signout?callbackUrl=/bye&x=<y>", { ...theme, CSRFToken, Action: `${O}/auth/signout?callbackUrl=/bye&x=%3Cy%3E` }],
  ["sign-out, check switched off", "signout", { ...theme, Action: `${O}/auth/signout` }, { CONF_SKIP_CSRF: "1" }],
  ["verify-request", "verify-request?provider=email&type=email", { ...theme, Origin: O, Host: "app.example" }],
  ...["Configuration", "AccessDenied", "Verification", "default", "Unheard", "configuration", "<b>", ""].map((code) => [
    `error ${code || "empty"}`, `error?error=${encodeURIComponent(code)}`,
    // The reference's link is the request's URL and "/signin", which is broken: the caller says where it leads.
    { ...theme, Code: code, Origin: O, Host: "app.example", SignInURL: `${O}/auth/error?error=${code}/signin` },
  ]),
]

const out = []
for (const [name, target, page, env = {}, change = () => {}] of cases) {
  const config = makeConfig({ AUTH_SECRET: "a secret for vectors", ...env }, memoryAdapter())
  change(config)
  // The reference asks for an adapter for ever after it has seen an e-mail provider.
  config.adapter ??= memoryAdapter()
  config.session = { strategy: "jwt" }
  const response = await Auth(new Request(`${O}/auth/${target}`), config)
  const { images, scripts, ...summary } = summarise(await response.text(), (s) => s)
  out.push({ name, page: target.split("?")[0], in: page, status: response.status, summary })
}
const dir = path.dirname(new URL(import.meta.url).pathname)
fs.writeFileSync(path.join(dir, "reference.json"), "[\n" + out.map((c) => JSON.stringify(c)).join(",\n") + "\n]\n")
console.log(`${out.length} cases`)
