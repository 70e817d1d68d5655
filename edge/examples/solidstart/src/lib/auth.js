// An app of its own has a copy of remote.mjs in this folder.
import { edgeAuth } from "../../../../../core/remote/remote.mjs"

/** Where this server finds the handler. Browsers find it under /api/auth of this site. */
export const edge = process.env.EDGE_URL ?? "http://127.0.0.1:8787"

export const auth = edgeAuth({
  url: `${process.env.ORIGIN ?? "http://localhost:3000"}/api/auth`,
  internalUrl: `${edge}/api/auth`,
})
