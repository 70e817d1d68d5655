// Seals and opens session tokens with @auth/core, and reads Location headers as a browser does.
// stdin: a list of tasks; stdout: the list of their results. argv[2] is the folder of @auth/core.
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const { encode, decode, getToken } = await import(pathToFileURL(process.argv[2] + "/jwt.js"))

const actions = {
  encode: ({ token, secret, salt }) => encode({ token, secret, salt }),
  decode: ({ token, secret, salt }) => decode({ token, secret, salt }),
  // What an app does that has the request and not the token.
  getToken: ({ cookie, secret, secureCookie }) =>
    getToken({ req: { headers: { cookie } }, secret, secureCookie, logger: { debug() {}, warn() {}, error() {} } }),
  origin: ({ location, base }) => new URL(location, base).origin,
}

const results = []
for (const task of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    results.push({ value: await actions[task.action](task) })
  } catch (error) {
    results.push({ error: String(error) })
  }
}
process.stdout.write(JSON.stringify(results))
