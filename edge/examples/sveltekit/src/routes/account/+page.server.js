// With a loader, the browser asks the server, and so the guard, on its way here from another page.
export async function load({ locals }) {
  const { user } = await locals.auth()
  return { user }
}
