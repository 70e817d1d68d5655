// What a typed app writes. Each line marked as an error must be one.
import {
  AuthError,
  configure,
  getCsrfToken,
  getProviders,
  getSession,
  signIn,
  signOut,
  subscribe,
  update,
  type Session,
  type SignInResponse,
} from "/auth/client.mjs"

declare module "/auth/client.mjs" {
  interface SessionUser {
    role?: "admin"
  }
}

export async function uses(form: HTMLFormElement, flag: boolean): Promise<void> {
  configure({ basePath: "/api/auth" })
  // @ts-expect-error: the path is required
  configure({})

  const session: Session | null = await getSession()
  // @ts-expect-error: nobody may be signed in
  session.expires
  const role: "admin" | undefined = session?.user?.role
  const email: string | null | undefined = session?.user?.email
  const mine: unknown = session?.mine

  const nothing: void = await signIn()
  await signIn("github", { redirectTo: "/" }, { prompt: "login" })
  await signIn("github", undefined, new URLSearchParams("prompt=login"))
  await signIn("email", { email: "ada@example.com", callbackUrl: "/" })
  const outcome: SignInResponse | undefined = await signIn("credentials", { username: "ada", redirect: false })
  if (outcome?.error === "CredentialsSignin") console.log(outcome.code, outcome.status, outcome.ok)
  const url: string | null | undefined = outcome?.url
  // @ts-expect-error: with a redirect there is no outcome
  const none: SignInResponse = await signIn("credentials", { username: "ada" })
  const either: SignInResponse | void = await signIn("credentials", { redirect: flag })
  await signIn("credentials", { ...Object.fromEntries(new FormData(form)), redirect: false })
  // @ts-expect-error: a provider is named by its id
  await signIn(7)

  const left: void = await signOut()
  await signOut({ redirectTo: "/bye" })
  const { url: back }: { url: string } = await signOut({ redirect: false })
  // @ts-expect-error: signing out takes no fields
  await signOut({ email: "ada@example.com" })

  const { github } = await getProviders()
  const token: string = await getCsrfToken()
  const updated: Session | null = await update({ name: "Ada" })
  await update()

  const stop: () => void = subscribe((session, error) => {
    const known: Session | null | undefined = session
    if (error) console.log(error.status, error.code, error.message, known)
  })
  stop()
  subscribe(() => {}, { refetchInterval: 60, refetchOnWindowFocus: false })
  // @ts-expect-error: no such option
  subscribe(() => {}, { interval: 60 })

  try {
    await getSession()
  } catch (error) {
    if (error instanceof AuthError && error.status === 503) console.log(error.cause)
  }
  const made = new AuthError("made in a test", { status: 503 })

  document.querySelector("auth-sign-in")?.addEventListener("auth-error", (event) => {
    event.preventDefault()
    const { status }: AuthError = event.detail
    console.log(status)
  })
  document.createElement("auth-sign-out").focus()
  console.log(role, email, mine, nothing, url, none, either, left, back, github?.type, token, updated, made)
}
