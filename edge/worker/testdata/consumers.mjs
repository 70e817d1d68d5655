// A worker whose requests are rounds: each puts the record KEY into an object, has 1,000
// consumers take it at once, with the requests that edge.Atomic makes, and answers how many
// of them got it, how many nothing, and how many something else.
//   GET /?object=NAME&key=KEY
export { AuthStore } from "./store.mjs";

export default {
  async fetch(request, { ATOMIC }) {
    const { searchParams } = new URL(request.url), key = searchParams.get("key");
    const stub = ATOMIC.get(ATOMIC.idFromName(searchParams.get("object")));
    const call = (operation, body) => stub.fetch(`http://store/${operation}?key=${key}`, { method: "POST", body });
    await call("put", "secret");
    const nothing = new Uint8Array(0);
    const consume = async () => {
      const response = await call("take", nothing);
      return response.status === 404 ? "nothing" : response.status + " " + await response.text();
    };
    const answers = await Promise.all(Array.from({ length: 1000 }, consume));
    const count = answer => answers.filter(a => a === answer).length;
    const won = count("200 secret"), lost = count("nothing");
    return new Response(`${won} ${lost} ${answers.length - won - lost}`);
  },
};
