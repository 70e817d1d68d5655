import { createAsync } from "@solidjs/router"
import { getAccount } from "~/lib/session.js"

export default function Account() {
  const account = createAsync(() => getAccount(), { deferStream: true })
  return (
    <>
      <h1>Account</h1>
      <p id="user">{account()?.name}</p>
    </>
  )
}
