// A worker whose requests are rounds: each puts the record KEY into an object and reads it, and
// has 1,000 consumers delete it at once if it is as it was read, with the requests that edge.Store
// makes, and answers how many did, how many did not, and how many got something else.
//   GET /?object=NAME&key=KEY
export { AuthStore } from "./store.mjs";

// string and list are those of edge/abi.
const encoder = new TextEncoder();
const number = n => [...new Uint8Array(new Uint32Array([n]).buffer)];
const string = text => [...number(text.length), ...encoder.encode(text)];
const list = (...elements) => [...number(elements.length), ...elements.flat()];
const write = (key, value) => [...string(key), ...string(value), ...string(""), ...new Array(8).fill(0)];

export default {
  async fetch(request, { AUTH_DO }) {
    const { searchParams } = new URL(request.url), key = searchParams.get("key");
    const stub = AUTH_DO.get(AUTH_DO.idFromName(searchParams.get("object")));
    const call = async (operation, message) => {
      const response = await stub.fetch("http://store/" + operation, { method: "POST", body: Uint8Array.from(message) });
      return response.ok ? new Uint8Array(await response.arrayBuffer()) : [];
    };
    await call("commit", [...list(), ...list(write(key, "secret"))]);
    const entries = await call("get", list(string(key))), version = new TextDecoder().decode(entries.slice(-36)); // a UUID
    const message = [...list([...string(key), ...string(version)]), ...list(write(key, ""))];
    const consume = async () => (await call("commit", message)).join();
    const answers = await Promise.all(Array.from({ length: 1000 }, consume));
    const count = answer => answers.filter(a => a === answer).length, won = count("1"), lost = count("0");
    return new Response(`${won} ${lost} ${answers.length - won - lost}`);
  },
};
