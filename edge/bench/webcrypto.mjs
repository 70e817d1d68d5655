// What it costs to open one session token and to seal another with the platform's WebCrypto, to hold
// against Go's own, `go test -run '^$' -bench 'Session/open' ./core` for js. Run it on workerd:
//   mkdir build/webcrypto; cp edge/bench/webcrypto.mjs build/webcrypto/worker.mjs
//   node edge/worker/serve.mjs build/webcrypto & time curl 'http://127.0.0.1:8787/?n=20000'; time curl 'http://127.0.0.1:8787/?n=0'
const payload = 300, header = 140; // bytes, as in a session token
const bytes = (n) => crypto.getRandomValues(new Uint8Array(n));

async function pair(n) {
  const mac = await crypto.subtle.importKey("raw", bytes(32), { name: "HMAC", hash: "SHA-512" }, false, ["sign", "verify"]);
  const key = await crypto.subtle.importKey("raw", bytes(32), "AES-CBC", false, ["encrypt", "decrypt"]);
  const covered = new Uint8Array(header + 16 + payload + 16 + 8);
  const cover = (iv, text) => (covered.set(iv, header), covered.set(new Uint8Array(text), header + 16), covered);
  let iv = bytes(16), text = await crypto.subtle.encrypt({ name: "AES-CBC", iv }, key, bytes(payload)), tag = await crypto.subtle.sign("HMAC", mac, cover(iv, text));
  for (let i = 0; i < n; i++) {
    if (!(await crypto.subtle.verify("HMAC", mac, tag, cover(iv, text)))) throw new Error("the tag is wrong");
    const plain = await crypto.subtle.decrypt({ name: "AES-CBC", iv }, key, text);
    iv = bytes(16);
    text = await crypto.subtle.encrypt({ name: "AES-CBC", iv }, key, plain);
    tag = await crypto.subtle.sign("HMAC", mac, cover(iv, text));
  }
}

export class AuthStore {}
export default {
  async fetch(request) {
    await pair(+new URL(request.url).searchParams.get("n"));
    return new Response("ok\n");
  },
};
