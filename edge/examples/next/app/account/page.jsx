import { getServerSession } from "../../lib/auth.js"
import { Refresh } from "../forms.jsx"

export default async function Account() {
  const session = await getServerSession()
  return (
    <>
      <h1>Account</h1>
      <p id="user">{session?.user?.name}</p>
      <Refresh session={session} />
    </>
  )
}
