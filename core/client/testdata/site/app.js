// The app: the client as a global for the stories, and all that a subscriber was told.
import * as auth from "/auth/client.mjs"

globalThis.auth = auth
globalThis.told = []
if (new URL(location).searchParams.has("subscribe"))
  globalThis.stop = auth.subscribe((session, error) => told.push({ session, status: error?.status, name: session?.user?.name }))
