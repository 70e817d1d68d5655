// Writes tokens.json: tokens made by @auth/core/jwt and by hand, and what its decode makes of them, at a fixed time.
// Run: node tokens.mjs [folder of @auth/core] > tokens.json
//
// {version, now, tokens: [{name, secrets, salt, token, claims, stricter}]}: claims is the decoded JSON text, or absent where
// decode throws; stricter says why we refuse a token that decode accepts.
import { createCipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { deflateRawSync } from "node:zlib"

const NOW = 1767225600 // seconds
globalThis.Date = class extends Date {
  constructor(...args) {
    args.length ? super(...args) : super(NOW * 1000 + 999)
  }
  static now = () => NOW * 1000 + 999
}
const core = process.argv[2] ? pathToFileURL(process.argv[2] + "/") : new URL("../../../../edge/worker/node_modules/@auth/core/", import.meta.url)
const { version } = JSON.parse(readFileSync(new URL("package.json", core)))
const { encode, decode } = await import(new URL("jwt.js", core))

const SECRET = "conformance-secret-0123456789abcdef0123456789"
const SALT = "authjs.session-token"
const CENTURY = 100 * 365 * 86400
const b64 = (v) => Buffer.from(v).toString("base64url")

function forge(claims, { secret = SECRET, salt = SALT, enc = "A256CBC-HS512", kid = true, header = {}, headerText, payload, padding, bytes } = {}) {
  const length = { "A256CBC-HS512": 64, "A128CBC-HS256": 32, A256GCM: 32, A128GCM: 16 }[enc]
  const key = Buffer.from(hkdfSync("sha256", secret, salt, `Auth.js Generated Encryption Key (${salt})`, length))
  const thumb = createHash(length === 64 ? "sha512" : "sha256").update(JSON.stringify({ k: b64(key), kty: "oct" })).digest("base64url")
  const h = b64(headerText?.(thumb) ?? JSON.stringify({ alg: "dir", enc, ...(kid === true ? { kid: thumb } : kid ? { kid } : {}), ...header }))
  const text = Buffer.from(payload ?? JSON.stringify(claims))
  if (/GCM$/.test(enc)) {
    const iv = randomBytes(12)
    const c = createCipheriv(enc === "A256GCM" ? "aes-256-gcm" : "aes-128-gcm", key, iv)
    c.setAAD(Buffer.from(h))
    const ct = Buffer.concat([c.update(text), c.final()])
    return [h, "", b64(iv), b64(ct), b64(c.getAuthTag())].join(".")
  }
  const half = length / 2
  const iv = randomBytes(16)
  const c = createCipheriv(half === 32 ? "aes-256-cbc" : "aes-128-cbc", key.subarray(half), iv)
  if (padding) c.setAutoPadding(false)
  const ct = bytes ?? Buffer.concat([c.update(padding ? Buffer.concat([text, Buffer.from(padding)]) : text), c.final()])
  const al = Buffer.alloc(8)
  al.writeBigUInt64BE(BigInt(h.length * 8))
  const tag = createHmac(half === 32 ? "sha512" : "sha256", key.subarray(0, half)).update(Buffer.concat([Buffer.from(h), iv, ct, al])).digest().subarray(0, half)
  return [h, "", b64(iv), b64(ct), b64(tag)].join(".")
}

const tokens = []
async function add(name, token, { secrets = [SECRET], salt = SALT, stricter } = {}) {
  let claims
  try {
    claims = JSON.stringify(await decode({ token, secret: secrets, salt })) ?? undefined
  } catch {}
  if (claims === "null") claims = undefined
  if (stricter && !claims) throw new Error(`${name}: decode refuses this, too`)
  tokens.push({ name, secrets, salt, token, claims, stricter })
}
const person = { name: "Zoë 日本 \u{1F600}", email: "zoe@example.com", picture: null, sub: "u-1", n: [1, 2.5, null, { b: "c" }], big: 9007199254740991, tiny: 1e-7 }
const fresh = (extra) => ({ sub: "u-2", iat: NOW, exp: NOW + CENTURY, jti: "j", ...extra })
const mk = (o, extra) => forge(fresh(extra), o)

// By the library.
for (const salt of [SALT, "__Secure-authjs.session-token", "authjs.pkce.code_verifier", "encodedState", "", "日本"])
  for (const secret of [SECRET, "s", "ü\u{1F600}", "x".repeat(500)])
    await add(`encoded, salt ${JSON.stringify(salt)}, secret of ${secret.length}`, await encode({ token: person, secret, salt, maxAge: CENTURY }), { secrets: [secret], salt })
for (const n of [0, 1, 2, 3, 7, 12, 13, 14, 15, 16, 17, 100, 9000])
  await add(`encoded, ${n} more characters`, await encode({ token: { x: "y".repeat(n) }, secret: SECRET, salt: SALT, maxAge: CENTURY }))
await add("encoded without claims", await encode({ secret: SECRET, salt: SALT, maxAge: CENTURY }))

// Rotated secrets.
const ring = ["three", "two", "one", "zero"]
for (const secret of [...ring, "four"]) {
  await add(`rotated, sealed with ${secret}`, await encode({ token: person, secret, salt: SALT, maxAge: CENTURY }), { secrets: ring })
  for (const enc of ["A256CBC-HS512", "A256GCM"]) {
    await add(`rotated, ${enc} by hand with ${secret}`, mk({ secret, enc }), { secrets: ring })
    await add(`rotated, ${enc} no key id, ${secret}`, mk({ secret, enc, kid: false }), { secrets: ring })
  }
}

// Unusual but well-made.
await add("foreign key id", mk({ kid: "nobody" }))
await add("empty key id", mk({ kid: false, header: { kid: "" } }))
for (const kid of [null, 5, true, ["x"], {}]) await add(`key id ${JSON.stringify(kid)}`, mk({ kid: false, header: { kid } }))
await add("key id of the other encryption", mk({ enc: "A256GCM", kid: JSON.parse(Buffer.from(mk().split(".")[0], "base64url")).kid }))
await add("A128CBC-HS256", mk({ enc: "A128CBC-HS256" }))
await add("A128GCM", mk({ enc: "A128GCM" }))
await add("another secret", mk({ secret: "another secret" }))
await add("another salt", mk({ salt: "__Secure-authjs.session-token" }))
for (const header of [{ typ: "JWT" }, { typ: 5 }, { cty: "JWT" }, { x: { y: 1 } }, { p2c: 1 }, { crit: ["exp"], exp: 1 }, { crit: [] }, { crit: null }, { crit: "x" }, { zip: "DEF" }, { zip: "x" }, { zip: null }, { alg: "A256KW" }, { alg: "none" }, { alg: "DIR" }, { alg: null }, { alg: "" }, { enc: "A256CBC-HS256" }, { enc: "a256gcm" }, { enc: null }, { enc: "A256GCM" }, { sub: "other" }, { aud: null }])
  await add(`header ${JSON.stringify(header)}`, mk({ header }))
await add("header sub that equals the claim", mk({ header: { sub: "u-2" } }), { stricter: "a claim in the header" })
await add("deflated", mk({ header: { zip: "DEF" }, payload: deflateRawSync(JSON.stringify(fresh())) }), { stricter: "zip" })
const texts = {
  "members in another order": (t) => `{"kid":"${t}","enc":"A256CBC-HS512","alg":"dir"}`,
  "blanks in the header": (t) => `\n { "alg" : "dir", "enc":"A256CBC-HS512","kid":"${t}" }\t`,
  "escapes in the header": (t) => `{"\\u0061lg":"d\\u0069r","enc":"A256CBC-HS512","kid":"${t}"}`,
  "doubled alg, last right": (t) => `{"alg":"x","alg":"dir","enc":"A256CBC-HS512","kid":"${t}"}`,
  "doubled alg, last wrong": (t) => `{"alg":"dir","alg":"x","enc":"A256CBC-HS512","kid":"${t}"}`,
  "upper-case names": (t) => `{"ALG":"dir","ENC":"A256CBC-HS512","KID":"${t}"}`,
  "upper-case kid only": (t) => `{"alg":"dir","enc":"A256CBC-HS512","KID":"${t}"}`,
  "upper-case alg besides": (t) => `{"alg":"dir","ALG":"x","enc":"A256CBC-HS512","kid":"${t}"}`,
  "text after the header": (t) => `{"alg":"dir","enc":"A256CBC-HS512","kid":"${t}"}x`,
  "an array as header": () => `["dir","A256CBC-HS512"]`,
  "null as header": () => "null",
  "an empty header": () => "",
  "{} as header": () => "{}",
  "bad UTF-8 in the header": (t) => Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xff]), Buffer.from(`","alg":"dir","enc":"A256CBC-HS512","kid":"${t}"}`)]),
}
for (const [name, headerText] of Object.entries(texts)) await add(name, mk({ headerText }))
for (const payload of ["[]", '"x"', "null", "{", "", "{}", "5", " {} ", "{}x", "{} {}", '{"a":1,"a":2}', '{"exp":1e400}', '{"exp":-1e400}', '{"nbf":1e400}', '{"exp":01}', '{"a":NaN}', '{"a":"\\ud800"}', '{"a":"\t"}', '{"a":"\u2028"}', "{'a':1}", '{"a":1,}', "\u00a0{}"])
  for (const enc of ["A256CBC-HS512", "A256GCM"]) await add(`${enc} payload ${JSON.stringify(payload)}`, mk({ payload, enc }))
await add("a byte order mark before the payload", mk({ payload: "\ufeff{}" }), { stricter: "JSON in UTF-8 has no mark (RFC 8259, 8.1)" })
await add("bad UTF-8", mk({ payload: Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]) }))
await add("a surrogate in UTF-8", mk({ payload: Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]) }))
for (const padding of [[0], [17, ...Array(14).fill(1), 17], [2, 1], [1, 2], Array(16).fill(0), Array(16).fill(16), [1], [255]])
  await add(`padding ${padding}`, forge(null, { payload: padding.length === 16 ? "{}".padEnd(16) : "{}".padEnd(16 - padding.length), padding }))
for (const n of [0, 1, 15, 16, 17, 31]) await add(`${n} bytes of ciphertext with a right tag`, forge(null, { bytes: Buffer.alloc(n) }))
await add("no ciphertext", (() => {
  const p = mk({ payload: "" }).split(".")
  return [p[0], "", p[2], "", p[4]].join(".")
})())

// Times.
for (const claim of ["exp", "nbf", "iat"]) {
  for (const d of [-1e9, -17, -16, -15.5, -15, -14.5, -14, -1, 0, 1, 14, 14.5, 15, 15.5, 16, 17, 1e9]) await add(`${claim} now ${d}`, forge({ sub: "t", [claim]: NOW + d }))
  for (const v of [null, "", String(NOW), true, [NOW], {}, -1, 0, 1.5, 1e308]) await add(`${claim} ${JSON.stringify(v)}`, forge({ sub: "t", [claim]: v }))
}

// Tampered.
for (const enc of ["A256CBC-HS512", "A256GCM"]) {
  const good = mk({ enc })
  const parts = good.split(".")
  const put = (i, s) => parts.map((p, j) => (i === j ? s(p) : p)).join(".")
  const flip = (at) => (p) => p.slice(0, at) + (p[at] === "A" ? "B" : "A") + p.slice(at + 1)
  const next = (p) => p.slice(0, -1) + "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".at("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".indexOf(p.at(-1)) + 1)
  const t = (name, token, o) => add(`${enc} ${name}`, token, o)
  await t("untouched", good)
  await t("header flipped", put(0, flip(30)))
  await t("iv flipped", put(2, flip(5)))
  await t("ciphertext flipped", put(3, flip(40)))
  await t("tag flipped", put(4, flip(5)))
  await t("short tag", put(4, (p) => p.slice(0, 20)))
  await t("long tag", put(4, (p) => p + "AAAA"))
  await t("no tag", put(4, () => ""))
  await t("no iv", put(2, () => ""))
  await t("short iv", put(2, (p) => p.slice(0, 8)))
  await t("long iv", put(2, (p) => p + "AAAA"))
  await t("no ciphertext", put(3, () => ""))
  await t("shorter ciphertext", put(3, (p) => p.slice(4)))
  await t("an encrypted key", put(1, () => "AAAA"))
  await t("six parts", `${good}.x`)
  await t("six parts, the last empty", `${good}.`)
  await t("four parts", parts.slice(0, 4).join("."))
  await t("two equal signs at the end", good + "==", enc === "A256GCM" ? { stricter: "not canonical" } : {})
  await t("a blank in front", ` ${good}`)
  await t("a newline at the end of the header", put(0, (p) => p + "\n"))
  await t("padded header", put(0, (p) => p + "="))
  for (let i = 0; i < 40; i++) {
    const other = mk({ enc })
    if (!/[-_]/.test(other.split(".")[3])) continue
    await t("standard alphabet in the ciphertext", other.split(".").map((p, j) => (j === 3 ? p.replace(/-/g, "+").replace(/_/g, "/") : p)).join("."))
    break
  }
  await t("stray bits in the tag", put(4, next), { stricter: "not canonical" })
  await t("stray bits in the iv", put(2, (p) => (enc === "A256GCM" ? flip(5)(p) : next(p))), enc === "A256GCM" ? {} : { stricter: "not canonical" })
  await t("padded tag", put(4, (p) => p + "=".repeat((4 - (p.length % 4)) % 4)), { stricter: "not canonical" })
  for (const [name, c] of Object.entries({ newline: "\n", "carriage return": "\r", blank: " ", tab: "\t" })) await t(`a ${name} in the ciphertext`, put(3, (p) => p.slice(0, 8) + c + p.slice(8)), { stricter: "not canonical" })
  await t("a newline at the end", good + "\n", { stricter: "not canonical" })
  await t("a NUL at the end", good + "\0")
  await t("a letter beyond ASCII", put(3, (p) => "é" + p.slice(1)))
}
for (const s of ["", "garbage", "a.b.c", "....", "a.b.c.d.e", "0b0f3c1e-4b4e-4c7a-9a55-0d3f3c1e4b4e", "x".repeat(9000), "日本", '"quoted"', ".".repeat(5000), "e30....", "e30..AAAA.AAAA.AAAA"]) await add(`garbage ${JSON.stringify(s.slice(0, 20))}`, s)

const rows = tokens.map((row) => JSON.stringify(row)).join(",\n")
process.stdout.write(`{"version":"${version}","now":${NOW},"tokens":[\n${rows}\n]}\n`)
