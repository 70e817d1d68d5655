// The conformance app, as far as it is measured, on @auth/core: what wasmtest/conformance is on this
// project. esbuild makes one module of it, which is what a user would deploy.
//
// Users and database sessions are in AUTH_KV, where a session check costs one read, as it does in
// kvadapter: the session's record has the user in it. The configuration is made once for all requests,
// though some integrations make it anew for each.
import { Auth, setEnvDefaults } from "@auth/core"
import Credentials from "@auth/core/providers/credentials"
export { AuthStore } from "../worker/store.mjs"

let config

export default {
  fetch(request, env) {
    return Auth(request, (config ??= configure(env)))
  },
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
  if (env.CONF_ADAPTER === "kv") config.adapter = adapter(env.AUTH_KV)
  setEnvDefaults(env, config, true)
  return config
}

function adapter(kv) {
  const put = (key, value, expires) =>
    kv.put(key, JSON.stringify(value), expires && { expirationTtl: Math.ceil((expires - Date.now()) / 1000) })
  const user = (record) => record && { ...record, emailVerified: record.emailVerified && new Date(record.emailVerified) }
  const session = (record) => ({ ...record, expires: new Date(record.expires) })
  const get = (key) => kv.get(key, "json")
  const getUser = async (id) => user(await get(`user.${id}`))
  return {
    getUser,
    async createUser(given) {
      await put(`user.${given.id}`, given)
      await put(`address.${given.email}`, given.id)
      return given
    },
    async updateUser(changes) {
      const changed = { ...(await getUser(changes.id)), ...changes }
      await put(`user.${changed.id}`, changed)
      return changed
    },
    async getUserByEmail(email) {
      const id = await get(`address.${email}`)
      return id && getUser(id)
    },
    async getUserByAccount({ provider, providerAccountId }) {
      const account = await get(`account.${provider}.${providerAccountId}`)
      return account && getUser(account.userId)
    },
    async linkAccount(account) {
      await put(`account.${account.provider}.${account.providerAccountId}`, account)
    },
    async createSession(given) {
      await put(`session.${given.sessionToken}`, { session: given, user: await getUser(given.userId) }, given.expires)
      return given
    },
    async getSessionAndUser(token) {
      const record = await get(`session.${token}`)
      return record && { session: session(record.session), user: user(record.user) }
    },
    async updateSession(changes) {
      const record = await get(`session.${changes.sessionToken}`)
      if (!record) return null
      Object.assign(record.session, changes)
      await put(`session.${changes.sessionToken}`, record, new Date(record.session.expires))
      return session(record.session)
    },
    deleteSession: (token) => kv.delete(`session.${token}`),
  }
}
