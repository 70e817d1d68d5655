// Prints what mount/next.config.mjs and mount/vite.config.mjs say, as the frameworks read it.

import next from "../mount/next.config.mjs"
import vite from "../mount/vite.config.mjs"

console.log(JSON.stringify({ rewrites: await next.rewrites(), proxy: vite.server.proxy }))
