// An OpenID provider (oidc-provider) to sign in at during development and in tests:
//   ADDR=127.0.0.1:9400 REDIRECT_URIS=http://localhost:8787/auth/callback/idp node idp.mjs
// Client id "demo", secret "demo-secret". Any name and password will do on its login page; the
// name "nobody" stands for somebody whom the site should not let in.
import http from "node:http"
import Provider from "oidc-provider"

const addr = process.env.ADDR ?? "127.0.0.1:9400"
const issuer = process.env.ISSUER ?? `http://${addr}`
console.info = console.warn = () => {} // it warns at each start that this is a development setup

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "demo",
      client_secret: "demo-secret",
      redirect_uris: (process.env.REDIRECT_URIS ?? "http://localhost:8787/auth/callback/idp").split(","),
    },
  ],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  conformIdTokenClaims: false,
  cookies: { keys: ["development"] },
  findAccount: (_ctx, sub) => ({
    accountId: sub,
    claims: async () => ({ sub, name: sub, email: `${sub}@example.com`, email_verified: true }),
  }),
})
const [host, port] = [addr.slice(0, addr.lastIndexOf(":")), Number(addr.slice(addr.lastIndexOf(":") + 1))]
http.createServer(provider.callback()).listen(port, host, () => console.log(`listening on ${issuer}`))
