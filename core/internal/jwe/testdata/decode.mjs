// Decodes tokens with @auth/core/jwt. Run: node decode.mjs <folder of @auth/core> with a JSON list of {token, secrets, salt} on
// standard input; a list of claims, null for a token that is refused, goes to standard output.
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const { decode } = await import(new URL("jwt.js", pathToFileURL(process.argv[2] + "/")))
const results = []
for (const { token, secrets, salt } of JSON.parse(readFileSync(0, "utf8"))) results.push(await decode({ token, secret: secrets, salt }).catch(() => null))
process.stdout.write(JSON.stringify(results))
