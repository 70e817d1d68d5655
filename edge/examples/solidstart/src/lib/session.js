import { query } from "@solidjs/router"
import { getRequestEvent } from "solid-js/web"

/** The session. Undefined is neither signed in nor signed out: it can't be found out. */
export const getSession = query(async () => {
  "use server"
  return getRequestEvent().locals.auth().catch(() => undefined)
}, "session")

/** The account of whoever asks. The page is protected by its path, and this by itself. */
export const getAccount = query(async () => {
  "use server"
  const session = await getRequestEvent().locals.auth()
  if (!session?.user) throw new Error("Sign in first.")
  return { name: session.user.name }
}, "account")
