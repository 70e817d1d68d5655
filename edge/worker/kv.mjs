// A Workers KV namespace for serve.mjs, where the platform's is out of reach: the service that
// workerd sends the calls on a KV binding to. One object of the class AuthStore has the records.
export default {
  async fetch(request, { RECORDS }) {
    const { pathname, searchParams } = new URL(request.url);
    const key = encodeURIComponent(decodeURIComponent(pathname.slice(1))); // a plus is a space in a query
    const object = RECORDS.get(RECORDS.idFromName("kv"));
    const call = (operation, query, body) => object.fetch(`http://store/${operation}?${query}`, { method: "POST", body });
    switch (request.method) {
      case "GET": return key ? call("get", "key=" + key) : list(call, searchParams);
      case "DELETE": return call("delete", "key=" + key);
      case "PUT": {
        const seconds = searchParams.get("expiration_ttl");
        const expires = seconds ? `&expires=${Date.now() + 1000 * seconds}` : "";
        return call("put", "key=" + key + expires, await request.arrayBuffer());
      }
    }
    return new Response(null, { status: 405 });
  },
};

async function list(call, given) {
  const limit = 1000, query = new URLSearchParams({ prefix: given.get("prefix") ?? "", cursor: given.get("cursor") ?? "", limit });
  const names = await (await call("list", query)).json(), complete = names.length < limit;
  return Response.json({ keys: names.map(name => ({ name })), list_complete: complete, cursor: complete ? undefined : names[limit - 1] });
}
