// A server for mount/forward.mjs: forward.mjs <path of the rule>. It prints its port.

import { createServer } from "node:http"
import { Readable } from "node:stream"
import { pathToFileURL } from "node:url"

const { forward } = await import(pathToFileURL(process.argv[2]))
const server = createServer(async (incoming, outgoing) => {
  if (!incoming.url.startsWith("/auth/")) return outgoing.end("the app")
  const { method, headers } = incoming
  const body = method === "GET" || method === "HEAD" ? null : Readable.toWeb(incoming)
  const response = await forward(new Request(`http://${headers.host}${incoming.url}`, { method, headers, body, duplex: "half" }))
  outgoing.writeHead(response.status, [...response.headers].flat())
  outgoing.end(Buffer.from(await response.arrayBuffer()))
})
server.listen(0, "127.0.0.1", () => console.log(server.address().port))
