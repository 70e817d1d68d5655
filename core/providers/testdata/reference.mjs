// Runs the profile functions and the userinfo requests of @auth/core's providers and prints what
// they give, for the test that compares. The argument is a folder with node_modules:
//
//	node core/providers/testdata/reference.mjs edge/worker > core/providers/testdata/reference.json
//
// For each provider there is the user that its profile makes, and what becomes of it when one
// member of the profile is missing, or is something else. A change that changes nothing is left out.
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { resolve } from "node:path"

const require = createRequire(resolve(process.argv[2], "package.json"))
const read = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"))
const facts = read("providers.json")
const profiles = read("profiles.json")

const standard = { sub: "5b10", name: "Jane Doe", nickname: "jane", preferred_username: "jane.doe", email: "Jane@Example.com", picture: "https://avatar.example/jane" }
const changes = { missing: undefined, null: null, number: 7, empty: "", object: {} }

// What a provider without a function of its own has (lib/utils/providers.js), but for the random id.
const defaultProfile = (p) => ({ id: p.sub ?? p.id, name: p.name ?? p.nickname ?? p.preferred_username, email: p.email, image: p.picture })

// The part of getUserAndAccount (lib/actions/callback/oauth/callback.js) that depends on the profile.
async function user(provider, profile) {
  try {
    const made = await (provider.profile ?? defaultProfile)(structuredClone(profile), { access_token: "access-token" })
    return { ...made, email: made.email?.toLowerCase() }
  } catch {
    return null
  }
}

function* paths(value, before = []) {
  for (const key of Object.keys(value)) {
    const path = [...before, key]
    yield path
    if (value[key] && typeof value[key] === "object") yield* paths(value[key], path)
  }
}

function changed(profile, path, value) {
  const copy = structuredClone(profile)
  let at = copy
  for (const key of path.slice(0, -1)) at = at[key]
  if (value !== undefined) at[path.at(-1)] = value
  else if (Array.isArray(at)) at.splice(Number(path.at(-1)), 1)
  else delete at[path.at(-1)]
  return copy
}

// The requests that a userinfo function makes, each answered as the endpoint would, and what it
// makes of the answers. A member of the profile can be missing.
async function requests(provider, entry, profile, missing) {
  const made = []
  globalThis.fetch = async (input, init = {}) => {
    const url = String(input)
    const headers = Object.fromEntries([...new Headers(init.headers)].filter(([name]) => name !== "user-agent" && name !== "accept"))
    made.push({ method: init.method ?? "GET", url, headers, body: init.body })
    if (url.endsWith("/user/emails")) return Response.json([{ email: "second@example.com" }, { email: "Primary@Example.com", primary: true }])
    let answer = missing ? changed(profile, [missing]) : profile
    for (const key of (entry.inside ?? "").split(".").reverse()) if (key) answer = key === "0" ? [answer] : { [key]: answer }
    return Response.json(answer)
  }
  const tokens = { access_token: "access-token", token_type: "bearer", email: "Jane@Example.com", ...entry.tokens }
  const given = await provider.userinfo.request({ tokens, provider: { ...provider, clientId: "CLIENT_ID" } })
  return { requests: made, profile: given }
}

const out = {}
for (const module of Object.keys(facts)) {
  const options = { clientId: "CLIENT_ID", clientSecret: "CLIENT_SECRET", issuer: "https://issuer.example" }
  globalThis.fetch = async () => new Response(null, { status: 404 })
  const make = (await import(pathToFileURL(require.resolve("@auth/core/providers/" + module)))).default
  const provider = make(options)
  const entry = profiles[provider.id]
  const profile = entry.profile ?? standard
  const base = JSON.stringify(await user(provider, profile))
  const variants = []
  for (const path of paths(profile)) {
    for (const [change, value] of Object.entries(changes)) {
      const got = JSON.stringify(await user(provider, changed(profile, path, value)))
      if (got !== base) variants.push([path.join("."), change, JSON.parse(got)])
    }
  }
  const result = { user: JSON.parse(base), variants }
  if (provider.userinfo?.request) {
    result.userinfo = await requests(provider, entry, profile)
    if (provider.id === "github") result.userinfoWithoutEmail = await requests(provider, entry, profile, "email")
  }
  out[provider.id] = result
}

// One variant a line, so that a difference can be read.
const lines = Object.keys(out).sort().map((id) => {
  const { variants, ...rest } = out[id]
  return `${JSON.stringify(id)}: {"variants": [\n${variants.map((v) => JSON.stringify(v)).join(",\n")}\n], ${JSON.stringify(rest).slice(1)}`
})
console.log(`{\n${lines.join(",\n")}\n}`)
