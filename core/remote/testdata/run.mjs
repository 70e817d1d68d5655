// Tells the stories in this runtime, Node, Deno or Bun: run.mjs <edge> <file of vectors>.

import { readFile } from "node:fs/promises"
import process from "node:process"
import { stories } from "./stories.mjs"

const [edge, file] = process.argv.slice(2)
console.log(JSON.stringify(await stories(edge, JSON.parse(await readFile(file, "utf8")))))
