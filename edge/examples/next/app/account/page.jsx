import { getServerSession } from "../../lib/auth.js"

export default async function Account() {
  const session = await getServerSession()
  return (
    <>
      <h1>Account</h1>
      <p id="user">{session?.user?.name}</p>
    </>
  )
}
