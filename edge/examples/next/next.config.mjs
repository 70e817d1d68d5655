import path from "node:path"

const edge = process.env.EDGE_URL ?? "http://127.0.0.1:8787"

export default {
  // The handler, on this site's own origin. It is read when the app is built.
  async rewrites() {
    return [{ source: "/api/auth/:path*", destination: `${edge}/api/auth/:path*` }]
  },
  // For remote.mjs, which an app of its own has a copy of.
  turbopack: { root: path.join(import.meta.dirname, "../../..") },
}
