import { base } from "$app/paths"

/** The handler's own module for browsers, which it serves. It has what the official client lacks. */
export const loadClient = () => import(/* @vite-ignore */ `${base}/auth/client.mjs`)
