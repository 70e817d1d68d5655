"use client"

import { getSession, SessionProvider, useSession } from "next-auth/react"
import { useState } from "react"
import { SignOut } from "../forms.jsx"

export default function Client() {
  return (
    <SessionProvider>
      <h1>In the browser</h1>
      <Session />
    </SessionProvider>
  )
}

function Session() {
  const { data: session, status, update } = useSession()
  const [end, setEnd] = useState("")

  function rename(event) {
    event.preventDefault()
    update({ name: event.target.elements.name.value })
  }

  return (
    <>
      <p id="user" aria-live="polite">
        {session ? session.user.name : status === "loading" ? "…" : "Nobody is signed in."}
      </p>
      {session && (
        <>
          <form onSubmit={rename}>
            <label>Name <input name="name" required /></label>
            <button>Change</button>
          </form>
          <p>
            <button onClick={async () => setEnd((await getSession())?.expires)}>Until when?</button> {end}
          </p>
          <SignOut />
        </>
      )}
    </>
  )
}
