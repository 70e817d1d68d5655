// A Workers KV namespace for serve.mjs, where the platform's is out of reach: the service that
// workerd sends the calls on a KV binding to. What it holds is in memory.
const values = new Map();

export default {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url), key = decodeURIComponent(pathname.slice(1));
    switch (request.method) {
      case "GET": {
        const { value, expires } = values.get(key) ?? {};
        return value && expires > Date.now() ? new Response(value) : new Response(null, { status: 404 });
      }
      case "PUT": {
        const seconds = searchParams.get("expiration_ttl") ?? Infinity;
        values.set(key, { value: await request.arrayBuffer(), expires: Date.now() + 1000 * seconds });
        return new Response();
      }
      case "DELETE": values.delete(key); return new Response();
    }
    return new Response(null, { status: 405 });
  },
};
