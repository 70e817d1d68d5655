// An app of its own has a copy of remote.mjs in this folder.
import { edgeAuth } from "../../../../../../core/remote/remote.mjs"
import { env } from "$env/dynamic/private"

/** Where this server finds the handler. Browsers find it under /auth of this site. */
export const edge = env.EDGE_URL ?? "http://127.0.0.1:8787"

export const auth = edgeAuth({
  url: `${env.ORIGIN ?? "http://localhost:3000"}/auth`,
  internalUrl: `${edge}/auth`,
})
