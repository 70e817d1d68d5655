// A service that workerd takes for a Workers KV namespace. It remembers what writes each key
// got, and shows them to who reads it. The key says how many of them are refused, and with
// which status: "refused:STATUS:TIMES:ANYTHING".
const writes = new Map();

export default {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url), key = decodeURIComponent(pathname.slice(1));
    const seen = writes.get(key) ?? [], [, status, times] = key.split(":");
    if (request.method === "GET") return Response.json(seen);
    writes.set(key, seen);
    seen.push({ Method: request.method, Value: await request.text(), TTL: searchParams.get("expiration_ttl"), At: Date.now() });
    return new Response(null, { status: seen.length > times ? 204 : +status });
  },
};
