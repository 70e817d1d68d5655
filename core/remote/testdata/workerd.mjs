// Tells the stories in workerd: workerd.mjs <package.json beside miniflare> <edge> <file of vectors>.

import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"

const [tools, edge, file] = process.argv.slice(2)
const { Miniflare } = createRequire(tools)("miniflare")
const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const worker = `
import { stories } from "./testdata/stories.mjs"
export default {
  async fetch(request) {
    return Response.json(await stories(new URL(request.url).searchParams.get("edge"), await request.json()))
  },
}`
const mf = new Miniflare({
  compatibilityDate: "2026-04-01",
  modulesRoot: at(".."),
  modules: [
    { type: "ESModule", path: at("../worker.mjs"), contents: worker },
    { type: "ESModule", path: at("./stories.mjs") },
    { type: "ESModule", path: at("../remote.mjs") },
  ],
})
try {
  const response = await mf.dispatchFetch(`http://test/?edge=${encodeURIComponent(edge)}`, { method: "POST", body: await readFile(file, "utf8") })
  console.log(await response.text())
} finally {
  await mf.dispose()
}
