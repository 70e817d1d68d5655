// Undefined is neither signed in nor signed out: it can't be found out.
export async function load({ locals }) {
  return { session: await locals.auth().catch(() => undefined) }
}
