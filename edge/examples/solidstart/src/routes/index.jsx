import { signIn, signOut } from "@auth/solid-start/client"
import { createAsync } from "@solidjs/router"
import { createSignal, Match, Switch } from "solid-js"
import { getSession } from "~/lib/session.js"

export const route = { preload: () => getSession() }

export default function Home() {
  // Deferred, so that the handler's cookies are known before the response begins.
  const session = createAsync(() => getSession(), { deferStream: true })
  return (
    <>
      <h1>Home</h1>
      <Switch fallback={<p id="user">Try again later.</p>}>
        <Match when={session()}>
          <p id="user">{session().user.name}</p>
          <button onClick={() => signOut()}>Sign out</button>
        </Match>
        <Match when={session() === null}>
          <p id="user">Nobody is signed in.</p>
          <SignIn />
        </Match>
      </Switch>
    </>
  )
}

function SignIn() {
  const [problem, setProblem] = createSignal("")

  async function enter(event) {
    event.preventDefault()
    const fields = Object.fromEntries(new FormData(event.target))
    try {
      const { ok, error, url } = await signIn("credentials", { ...fields, redirect: false })
      if (ok && !error) location.assign(url)
      else setProblem(error === "CredentialsSignin" ? "The name or the password is wrong." : "Try again later.")
    } catch {
      setProblem("Try again later.")
    }
  }

  return (
    <>
      <form method="post" action="/api/auth/callback/credentials" onSubmit={enter}>
        <label>Name <input name="username" autocomplete="username" required /></label>
        <label>Password <input name="password" type="password" autocomplete="current-password" required /></label>
        <button>Sign in</button>
      </form>
      <p role="alert">{problem()}</p>
      <button onClick={() => signIn("idp")}>Sign in with the provider</button>
    </>
  )
}
