// A Vite server with the rule of mount/vite.config.mjs: vite.mjs <vite's package.json> <path of the rule>.
// It prints its port.

import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"

const [vite, rule] = process.argv.slice(2)
const { createServer } = await import(pathToFileURL(createRequire(vite).resolve("vite")))
const { default: config } = await import(pathToFileURL(rule))
const server = await createServer({
  ...config, configFile: false, logLevel: "silent", appType: "custom",
  server: { ...config.server, host: "127.0.0.1", port: 0, hmr: false, ws: false, watch: null },
  plugins: [{ name: "app", configureServer: (server) => () => server.middlewares.use((_, response) => response.end("the app")) }],
})
await server.listen()
console.log(server.httpServer.address().port)
