const url = "/api/auth/client.mjs"

/** The handler's own module for browsers, which it serves. It has what the official client lacks. */
export const loadClient = () => import(/* @vite-ignore */ url)
