import { signOut } from "@auth/solid-start/client"
import { createSignal, onCleanup, onMount, Show } from "solid-js"
import { loadClient } from "~/lib/client.js"

export default function Client() {
  const [state, setState] = createSignal({})
  const text = () => {
    const { session, error } = state()
    return session ? session.user.name : error ? "Try again later." : session === null ? "Nobody is signed in." : "…"
  }

  onMount(() => {
    const subscribed = loadClient().then(({ subscribe }) => subscribe((session, error) => setState({ session, error })))
    subscribed.catch((error) => setState({ error }))
    onCleanup(() => subscribed.then((stop) => stop()).catch(() => {}))
  })

  async function rename(event) {
    event.preventDefault()
    const { update } = await loadClient()
    await update({ name: event.target.elements.name.value }).catch(() => {}) // the subscriber is told
  }

  return (
    <>
      <h1>In the browser</h1>
      <p id="user" aria-live="polite">{text()}</p>
      <Show when={state().session}>
        <form onSubmit={rename}>
          <label>Name <input name="name" required /></label>
          <button>Change</button>
        </form>
        <button onClick={() => signOut()}>Sign out</button>
      </Show>
    </>
  )
}
