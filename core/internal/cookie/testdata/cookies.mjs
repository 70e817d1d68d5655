// Writes cookies.json: what @auth/core makes of Cookie headers, cookies to set and chunked session cookies.
// Run: node cookies.mjs [folder of @auth/core] > cookies.json
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const core = process.argv[2] ? pathToFileURL(process.argv[2] + "/") : new URL("../../../../edge/worker/node_modules/@auth/core/", import.meta.url)
const { version } = JSON.parse(readFileSync(new URL("package.json", core)))
const { parse, serialize } = await import(new URL("lib/vendored/cookie.js", core))
const { SessionStore } = await import(new URL("lib/utils/cookie.js", core))

const headers = [
  "", "a", "=", "a=", "=x", "==", "a=b", "a=b;c=d", "a=b; c=d", "a=b;\tc=d", "  a  =  b  ; c\t=\td\t", "a=1; a=2", "a=; a=2", "a=1;A=2", "a=b=c", "a==", "a;b;c=d", "lonely; a=b", "a=b; lonely", ";;;a=b;;", ";", "; ", " = ; = ",
  'a="b"', 'a="b c"', 'a="', "a=b c", "a=b,c=d", "a=%20", "a=%", "a=%zz", "a=%C3%BC", "a=%FF", "a=%E2%82", "a=%00", "a=%3B%3D", "%61=b", "a=b%", "a=%41%", "a=ü", "ü=1", "a=\0", "a\0=b", "a=b\r\nc=d", "a=\u00a0b\u00a0", "a=\v b", "a[]=1",
  "__proto__=x; constructor=y; toString=z; hasOwnProperty=w", "a=1;b=2;a=3;c=4;b=5", "authjs.session-token=x; authjs.session-token.0=y", "a =b", "a= b", "a=b;c", "a;=;b=", "x;a=b;y;c=d", "a=b;c=d;", "$Version=1; a=b; $Path=/", "a = ;b", "a=+", "a=1%2C2",
]
const when = new Date("2026-10-21T07:28:00.999Z")
const set = [
  ["a", "b"], ["a", ""], ["a", "b c;d=\"e\",\\ü|%\u{1F600}"], ["a", "!'()*-._~"], ["a", "b", {}], ["a", "b", { maxAge: 0 }], ["a", "b", { maxAge: 900 }], ["a", "b", { path: "/" }], ["a", "b", { path: "" }], ["a", "b", { domain: "" }],
  ["a", "b", { expires: when }], ["a", "b", { expires: new Date(0) }], ["a", "b", { expires: new Date("2027-02-03T04:05:06Z") }], ["a", "b", { httpOnly: true, secure: true, sameSite: "lax", path: "/" }], ["a", "b", { sameSite: "strict" }],
  ["a", "b", { sameSite: "none" }], ["a", "b", { sameSite: "LAX" }], ["a", "b", { sameSite: "odd" }], ["a", "b", { partitioned: true }],
  ["__Host-x", "v", { maxAge: 5, domain: "example.com", path: "/p", expires: when, httpOnly: true, secure: true, partitioned: true, sameSite: "strict" }], ["", "b"], ["a b", "c"],
]
for (let c = 0; c < 0x81; c++) {
  const x = String.fromCharCode(c)
  set.push([`a${x}b`, "v"], ["a", `v${x}`], ["a", "v", { path: `/${x}` }], ["a", "v", { domain: `a${x}b` }])
}
for (const domain of [".", ".a", "..a", "a.", "a..b", "a.b", "-a", "a-", "a-b", "A.B", "a".repeat(63), "a".repeat(64), `${"a".repeat(63)}.b`, ".a.b.c", "1", "1.2.3.4", "[::1]", "a:1", "-", "a.-b", "a.b-"]) set.push(["a", "v", { domain }])

const name = "authjs.session-token"
const full = "f".repeat(3936)
const sessions = [
  "", `${name}=abc`, `${name}=`, `${name}=; ${name}.0=`, `${name}.0=a; ${name}.1=b; ${name}.2=c`, `${name}.2=c; ${name}.0=a; ${name}.1=b`, `${name}.1=b; ${name}.2=c`, `${name}.0=a`, `${name}.5=a`, `${name}=${full}; ${name}.1=b; ${name}.2=c`,
  `${name}=abc; ${name}.0=`, `other=1; ${name}=abc; ${name}x`, Array.from({ length: 12 }, (_, i) => `${name}.${11 - i}=<${11 - i}>`).join("; "), `__Secure-${name}=abc`, `next-auth.session-token=abc`, `Authjs.Session-Token=abc`, `${name}=a; ${name}=b`,
]
const values = ["", "v", "v".repeat(3935), "v".repeat(3936), "v".repeat(3937), "v".repeat(7872), "v".repeat(7873), "v".repeat(12000)]
const options = { httpOnly: true, sameSite: "lax", path: "/", secure: true }
const brief = (c) => [c.name, c.value.length, serialize(c.name, "", c.options)]
const attempt = (f) => {
  try {
    return f()
  } catch {
    return null
  }
}
const store = (header) => new SessionStore({ name, options }, parse(header), { debug() {} })
const out = {
  version,
  headers: headers.map((h) => [h, Object.entries(parse(h))]),
  set: set.map((s) => ({ name: s[0], value: s[1], options: s[2] ?? {}, header: attempt(() => serialize(...s)) })),
  name,
  sessions: sessions.map((header) => ({
    header,
    value: store(header).value,
    cleared: store(header).clean().map(brief),
    chunked: values.map((v) => [v.length, store(header).chunk(v, { expires: when }).map(brief)]),
  })),
}
const lines = (list) => `[\n${list.map((row) => JSON.stringify(row)).join(",\n")}\n]`
process.stdout.write(`{"version":"${out.version}","name":"${name}","headers":${lines(out.headers)},"set":${lines(out.set)},"sessions":${lines(out.sessions)}}\n`)
