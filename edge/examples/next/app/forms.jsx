"use client"

import { SessionProvider, signIn, signOut, useSession } from "next-auth/react"
import { useRouter } from "next/navigation"
import { useEffect, useState } from "react"

export function SignIn() {
  const [problem, setProblem] = useState("")

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
        <label>Name <input name="username" autoComplete="username" required /></label>
        <label>Password <input name="password" type="password" autoComplete="current-password" required /></label>
        <button>Sign in</button>
      </form>
      <p role="alert">{problem}</p>
      <button onClick={() => signIn("idp")}>Sign in with the provider</button>
    </>
  )
}

export function SignOut() {
  return <button onClick={() => signOut()}>Sign out</button>
}

/** Renders the page on the server anew when another tab has signed in or out. */
export function Refresh({ session }) {
  return session === undefined ? null : (
    <SessionProvider session={session}>
      <Watch name={session?.user?.name} />
    </SessionProvider>
  )
}

function Watch({ name }) {
  const { data } = useSession()
  const router = useRouter()
  useEffect(() => {
    if (data?.user?.name !== name) router.refresh()
  }, [data, name, router])
  return null
}
