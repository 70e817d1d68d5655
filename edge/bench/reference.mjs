// The conformance app, as far as it is measured, on @auth/core: what wasmtest/conformance is on this
// project. esbuild makes one module of it, which is what a user would deploy.
//
// With a database it has its own adapter for D1, in AUTH_DO, where ours has its D1 database as well; GET
// /tables makes the adapter's tables. The configuration is made once for all requests, though some
// integrations make it anew for each.
import { Auth, setEnvDefaults } from "@auth/core"
import Credentials from "@auth/core/providers/credentials"
import { D1Adapter, up } from "@auth/d1-adapter"

let config

export default {
  fetch(request, env) {
    if (request.url.endsWith("/tables")) return makeTables(env.AUTH_DO)
    return Auth(request, (config ??= configure(env)))
  },
}

// up begins to make the tables, and waits for none.
async function makeTables(db) {
  const made = []
  await up({ prepare: (text) => ({ run: () => made[made.push(db.prepare(text).run()) - 1] }) })
  await Promise.all(made)
  return new Response("ok")
}

function configure(env) {
  const idp = env.CONF_IDP
  const client = { clientId: "conformance", clientSecret: "conformance-client-secret" }
  const isJWT = env.CONF_STRATEGY === "jwt"
  const config = {
    providers: [
      Credentials({
        credentials: { username: { type: "text" }, password: { type: "password" } },
        authorize: ({ username, password }) =>
          password === "correct-horse" ? { id: `u-${username}`, name: username, email: `${username}@example.com` } : null,
      }),
      { id: "idp", name: "IdP", type: "oidc", issuer: idp, ...client },
      {
        id: "hub",
        name: "Hub",
        type: "oauth",
        authorization: { url: `${idp}/auth`, params: { scope: "openid profile email" } },
        token: `${idp}/token`,
        userinfo: `${idp}/me`,
        checks: ["pkce", "state"],
        profile: ({ sub, name, email, picture }) => ({ id: sub, name, email, image: picture }),
        ...client,
      },
    ],
    session: { strategy: env.CONF_STRATEGY },
    trustHost: true,
    theme: { logo: "", brandColor: "#0ea5e9" },
    callbacks: {
      signIn: ({ user }) => user.email !== "denied@example.com",
      jwt({ token, user, account, trigger }) {
        if (trigger === "signIn" || trigger === "signUp") {
          token.trigger = trigger
          token.provider = account?.provider
          token.uid = user?.id
        }
        return token
      },
      session({ session, user, token }) {
        const { name, email, image } = session.user
        const out = { user: { name, email, image }, expires: session.expires }
        if (isJWT) Object.assign(out, { trigger: token.trigger, provider: token.provider })
        else out.uid = user.id
        return out
      },
    },
    events: Object.fromEntries(
      ["signIn", "signOut", "createUser", "updateUser", "linkAccount", "session"].map((name) => [name, async () => {}])
    ),
    logger: { debug() {}, warn() {}, error: (e) => console.error(e.name, e.message, e.cause?.err?.message ?? "") },
  }
  if (env.CONF_ADAPTER === "kv") config.adapter = D1Adapter(env.AUTH_DO)
  setEnvDefaults(env, config, true)
  return config
}
