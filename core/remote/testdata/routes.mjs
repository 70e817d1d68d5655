// Which worker gets a URL: routes.mjs <package.json beside miniflare> <pattern of auth> <pattern of app> <URL>...

import { createRequire } from "node:module"

const [tools, auth, app, ...urls] = process.argv.slice(2)
const { Miniflare } = createRequire(tools)("miniflare")
const worker = (name, route) => ({ name, routes: [route], modules: true, script: `export default { fetch: () => new Response("${name}") }` })
const mf = new Miniflare({ workers: [worker("app", app), worker("auth", auth)] })
try {
  const out = {}
  for (const url of urls) out[url] = await (await mf.dispatchFetch(url)).text()
  console.log(JSON.stringify(out))
} finally {
  await mf.dispose()
}
