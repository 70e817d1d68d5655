import { getServerSession } from "../lib/auth.js"
import { Refresh, SignIn, SignOut } from "./forms.jsx"

export default async function Home() {
  const session = await getServerSession()
  return (
    <>
      <h1>Home</h1>
      <p id="user">{session ? session.user.name : session === null ? "Nobody is signed in." : "Try again later."}</p>
      {session ? <SignOut /> : session === null && <SignIn />}
      <Refresh session={session} />
    </>
  )
}
