// The same answer from JavaScript alone.
const body = `{"user":{"name":"${"x".repeat(270)}"}}`;
export default {
  fetch(request) {
    const seen = [];
    for (const [name, value] of request.headers) seen.push(name, value);
    const headers = new Headers();
    headers.append("Content-Type", "application/json");
    headers.append("Cache-Control", "private, no-cache, no-store");
    headers.append("Expires", "0");
    headers.append("Pragma", "no-cache");
    headers.append("Set-Cookie", "a=1; Path=/; HttpOnly; SameSite=Lax");
    headers.append("Set-Cookie", "b=2; Path=/; HttpOnly; SameSite=Lax");
    return new Response(body, { headers });
  },
};
