// Keeps the failures that the page is told, and stays on the page if the story wants that.
globalThis.failures = []
addEventListener("auth-error", (event) => {
  failures.push({ from: event.target.id, name: event.detail.name, status: event.detail.status })
  if (new URL(location).searchParams.has("stay")) event.preventDefault()
})
