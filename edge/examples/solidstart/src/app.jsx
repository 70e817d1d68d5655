import { Router, revalidate } from "@solidjs/router"
import { FileRoutes } from "@solidjs/start/router"
import { onMount, Suspense } from "solid-js"
import { loadClient } from "~/lib/client.js"

// Loads the page's data anew when another tab has signed in, and the page when it has signed out,
// since the server may not let anybody stay there.
function follow() {
  let user
  onMount(async () => {
    const { subscribe } = await loadClient().catch(() => ({}))
    subscribe?.((session) => {
      if (session === undefined) return
      const now = JSON.stringify(session?.user ?? null)
      if (user !== undefined && user !== now) session ? revalidate() : location.reload()
      user = now
    })
  })
}

function Layout(props) {
  follow()
  return (
    <>
      <nav>
        <a href="/">Home</a> <a href="/client">In the browser</a>{" "}
        <a href="/account" rel="external">Account</a> {/* external: the server decides who gets there */}
      </nav>
      <main>
        <Suspense>{props.children}</Suspense>
      </main>
    </>
  )
}

export default function App() {
  return (
    <Router root={Layout}>
      <FileRoutes />
    </Router>
  )
}
