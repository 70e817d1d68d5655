// Writes urls.json: what Node's URL makes of several thousand inputs. Run: node urls.mjs > urls.json
//
// {"node": version, "bases": [href], "cases": [row]}, each row [input, index of its base or -1] where new URL throws, else
// [input, base, href, origin, host, 1 if there is user info else 0]. The origin is 0 for "null". The protocol is the start of href.

const BASES = ["https://our.example/deep/page?q=1#f", "http://user:pw@our.example:8080/a/b/"]
const OUR = "our.example"
const H = "evil.example"

// reliability.md 2.8, with h for a hostile host.
const corpus = [
  `//${H}`, `///${H}`, `/\\${H}`, `\\\\${H}`, `/%09/${H}`, `\t//${H}`, ` //${H}`, `/.//${H}`, `/..//${H}`, `https:${H}`, `https:/${H}`, `https:\\\\${H}`,
  `http://${OUR}`, `https://${OUR}@${H}`, `https://${OUR}.${H}`, `https://${OUR}:444/`, "https://OUR.EXAMPLE/", `https://${H}%2f@${OUR}/`,
  `https://${OUR}%00.${H}`, "https://our%2eexample", "https://our。example", `https://${OUR}@${H}:443`, "javascript:", "java\nscript:", "data:",
  `blob:https://${OUR}/x`, "vbscript:", "file:", "//[::1]", "?x", "#", "", "/" + "a".repeat(300), "/x\r\ny", "/%0d%0a", "/\ud800", "\udfff", "/\0", "\0",
  "https://оur.example/", "https://ｏｕｒ.example/", "https://OUR。example/", "https://xn--ur-emc.example/", "//[fe80::1%25eth0]/", "//[fe80::1%eth0]/",
  `https://${OUR}:443/x`, `http://${OUR}:80/x`, `https://${OUR}./`, `https://${OUR}../`, `https://u:p@${OUR}/`,
  // conformance/scenarios/06-redirects.mjs
  "/", "/relative", "/relative?a=b&c=d#frag", "//evil.example/path", "/%2F/evil.example", "/../x", "/a b", "/ü", "/日本", "/a\tb", "/a\r\nSet-Cookie: x=y",
  "/a\u0000b", "/\t/evil.example", " /leading", "relative", "?q=1", "#frag", ".", "javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "vbscript:x",
  "ftp://example.com/", "mailto:a@b.c", "about:blank", "file:///etc/passwd", "https://elsewhere.example/", "http://elsewhere.example", "https://", "http://", "http:",
  "http:/evil.example", "http:evil.example", "https:evil.example", "HTTP://ELSEWHERE.EXAMPLE", "http://user:pw@elsewhere.example/", "http://[::1]/", "http://[bad/",
  "http://a b/", "not a url", "//", "http://elsewhere.example:99999/", `https://${OUR}//double`, `https://${OUR}/../up`, `https://${OUR}/%2e%2e/up`, `https://${OUR}/a b`,
  `http://user@${OUR}/x`, "http://localhost/x",
]

// Whole URLs for the rarer rules.
const rare = [
  "foo:", "foo:/", "foo://", "foo:///", "foo:/x", "foo://h", "foo://h/", "foo://h:80/", "foo://h:0/x", "foo://:80/", "foo://u@/", "foo://u@h", "foo:///p", "foo:/.//p", "foo:/..//p", "foo:a b", "foo:a ?b",
  "foo:a #b", "foo: ", "foo://h\\p", "foo://h/a\\b", "foo://ho st/", "foo://h%zz/", "foo://ü/", "foo:/a/../..", "foo:?q'", "foo:?", "foo:#", "foo://[::1]:9/x", "foo://[x]/", "foo://a|b/", "foo://h?q#f",
  "blob:", "blob:https://h:443/x", "blob:http://h/", "blob:ftp://h/", "blob:file:///x", "blob:blob:https://h/", "blob:x", "blob:https://h/?q#f", "blob:https://", "BLOB:HTTPS://H/", "blob:ws://h/",
  "file:x", "file:/x", "file://x", "file:///C:/x", "file:///C|/x", "file:C|/..", "file:///C:/../..", "file://C:/x", "file://localhost/x", "file://LOCALHOST/x", "file://h:80/", "file:\\\\h\\x", "file:?q",
  "file:#f", "file://[::1]/x", "file://1.2/x", "file:///a/../../b", "file:////x", "file:/C:", "file:///c:/./%2e%2e/", "file://u@h/", "file:..", "file://ex%41mple/x", "file:///C:x/..",
  "ws://h:80/", "wss://h:443/", "ws://h:443", "wss:h", "ftp:h", "ftp://h:21/", "ftp://u:p@h:22/x", "gopher://h:70/", "http+x://h/", "1http://h", "+x:y", "a-b.c+d:e", "ht tp://h", "ht\ntp://h", "http\t://h",
  "http://:@h/", "http://:p@h/", "http://u:@h/", "http://@h/", "http://a@b@h/", "http://a:b:c@h/", "http://u@/x", "http://u@:80/", "http://:80/", "http://%@h/", "http://ü:é@h/", "http://a/b@c", "http://a?b@c",
  "http://a#b@c", "http://a\\b@c", "http://[@]/", "http://a:b@[::1]:81/", "http://u;=@h/", "http://u^|[]@h/", "http://h:", "http://h:/", "http://h:080/", "http://h:00", "http://h:0", "http://h:65535",
  "http://h:65536", "http://h:000000000000000080/", "http://h:8x/", "http://h:+80/", "http://h:-1/", "http://h: 80/", "http://h:80 /", "http://h:８０/", "http://h::80/", "http://h:80:80/", "http://h:1\t2/",
  "http://./", "http://../", "http://.h/", "http://h./", "http://h../", "http://-h-/", "http://h_x/", "http://h~/", "http://h!$&'()*+,;=/", "http://%48%2E/", "http://%41%2f/", "http://%zz/", "http://%/",
  "http://a%25/", "http://a%00/", "http://a%7f/", "http://a%20b/", "http://%ef%bc%85/", "http://%ff/", "http://%e2%82/", "http://\ufffd/", "http://%ef%bf%bd/", "http://a\u00adb/", "http://\u00ad/", "http://ü.%zz/",
  "http://ü%2f/", "http://BÜCHER/", "http://\ufeffh/", "http://h\u200b/", "http://xn--/", "http://xn--a/", "http://xn--bcher-kva/", "http://a.xn--ls8h/", "http://XN--BCHER-KVA/", "http://☃.net/",
  "http:\\\\h\\p", "http:/\\h", "http://\\h", "http:///////h", "http:\\/\\/h", "https:/", "https:\\", "https:?q", "https:#f", "https:..", "https:./x", "http:8080", "http:.", "https:", "https:a:b", "http::x",
  "/a/./b/../c/%2E/%2e%2E/.%2e/%2e./d/..", "/a/..", "/..", "/.", "/a/.", "/...", "/%2e%2e%2e", "/.%2", "/a//..//b", "a/../../../b", "..", "../..", "../../../x", "./", "x/", "x/..", "x/.", "..;/x", "/..\\x", "a\\b\\..\\c", "\\x",
  "/a?b?c#d#e", "/?", "/#", "/?#", "?", "?#", "#?", "/a?'\"<>`{}|\\^ ~", "/a#'\"<>`{}|\\^ ~", "/a'\"<>`{}|\\^ ~[]@:!$&()*+,;=", "/%", "/%4", "/%zz", "/%41", "/\x7f", "/\u0080", "/\u{1F600}?\u{1F600}#\u{1F600}", "/?%00\0", "/#\0",
  " ", "\n", "\x00\x1f https://h/ \x1f\x00", "https://h/\u00a0", "\u00a0https://h/", "\u3000/x", "h\tt\nt\rp\t:\n/\r/h/\tx", "/\n/h", "\\\n\\h", "https:\n//h", "https://h\n.x/", "//h\t:8\n1/", "https://h/?\n#\t",
  "https://our.example\\@evil.example", "https://our.example\\.evil.example", "https://evil.example\\@our.example", "https://our.example?@evil.example", "https://our.example#@evil.example", "https://our.example;@evil.example",
  "https://our.example%5c@evil.example", "https://our.example%23@evil.example", "https://our.example%40evil.example", "https://our.example%2fevil.example", "//our.example@evil.example", "/\\/evil.example", "/ /evil.example", "//%0aevil.example",
]

// Hosts, each put into a few places.
const hosts = [
  "0", "00", "0x", "0x0", "0X7F.1", "127.1", "127.0.0.1", "127.0.0.1.", "127.0.0.1..", "1.2.3.4.5", "1.2.3.256", "1.2.65536", "1.2.65535", "1.16777216", "1.16777215", "4294967295", "4294967296", "0x100000000",
  "0377.1", "0400.1", "08", "09.1", "1.08", "018", "0.0x", "0xg", "1.0xg", "a.0x1", "a.1", "a.1.", "1.a", "1..2", ".1", "1.", ".", "..", "256", "256.1", "0x7f000001", "017700000001", "1e3", "1.1e3", "%31", "0x%31", "１２７.1", "١",
  "99999999999999999999", "1.99999999999999999999", "0x" + "f".repeat(30), "0".repeat(40), "127.0x0.0.01", "1.2.3.", "1.2.3.4%2e", "+1", "-1", "1_", "a.b.c.0xzz",
  "[]", "[::]", "[::1]", "[1::]", "[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7::]", "[::2:3:4:5:6:7:8]", "[1:2:3:4::5:6:7:8]", "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]", "[1:2:3:4:5:6:7:8:]", "[1:2:3:4:5:6:7:]", "[:1]", "[:]", "[:::]", "[1:::2]",
  "[1::2::3]", "[::00001]", "[::g]", "[::FFFF]", "[::ffff:1.2.3.4]", "[::1.2.3.4]", "[1.2.3.4]", "[::1.2.3]", "[::1.2.3.4.5]", "[::01.2.3.4]", "[::1.2.3.256]", "[::1.2.3.1000]", "[::1.2.3.]", "[::1.2..4]", "[::.1.2.3]", "[::1.2.3.4:5]",
  "[1:2:3:4:5:6:1.2.3.4]", "[1:2:3:4:5:6:7:1.2.3.4]", "[1:2:3:4:5:1.2.3.4]", "[::a.2.3.4]", "[::1.2.3.4x]", "[::1%eth0]", "[::1%25eth0]", "[ ::1]", "[::1", "::1]", "[::1]x", "x[::1]", "[[::1]]", "[0:0:1:0:0:0:1:0]", "[1:0:0:2:0:0:0:3]",
  "[1:0:0:2:0:0:3:4]", "[0:0:0:0:0:0:0:1]", "[0:1:0:1:0:1:0:1]", "[00:000:0000:0:0:0:0:0]", "[::%31]", "[::1]%2f", "[v1.x]", "[1:2]", "[1:2:3:4:5:6:7::8]", "[1::3:4:5:6:7:8]", "[::1:2:3:4:5:6:7:8]", "[1:0:2:0:3:0:4:0]", "[::12345]", "[1:]",
]
const forbidden = Array.from({ length: 0x80 }, (_, i) => String.fromCharCode(i))

const seen = new Set()
const cases = []
function add(input, base) {
  input = input.toWellFormed?.() ?? input.replace(/[\ud800-\udfff]/gu, "\ufffd")
  const id = `${base}|${input}`
  if (seen.has(id)) return
  seen.add(id)
  try {
    const u = new URL(input, BASES[base])
    cases.push([input, base, u.href, u.origin === "null" ? 0 : u.origin, u.host, u.username || u.password ? 1 : 0])
  } catch {
    cases.push([input, base])
  }
}
const everywhere = (s) => [-1, 0, 1].forEach((base) => add(s, base))

corpus.forEach(everywhere)
rare.forEach(everywhere)
for (const h of hosts) {
  add(`http://${h}/`, -1)
  add(`foo://${h}/`, -1)
  add(`//u@${h}:81`, 0)
  add(`file://${h}/x`, -1)
}
// Every ASCII character in every part, raw and in the host also percent-encoded.
for (const c of forbidden) {
  add(`https://a${c}b/`, -1)
  add(`https://a%${c.charCodeAt(0).toString(16).padStart(2, "0")}b/`, -1)
  add(`x://a${c}b/`, -1)
  add(`https://${c}u${c}:${c}p${c}@h/`, -1)
  add(`/p${c}?q${c}#f${c}`, 0)
  add(`x:p${c}?q${c}#f${c}`, -1)
  add(`${c}https://h${c}`, 0)
  add(`h${c}://h`, 0)
  add(`https:${c}h`, 0)
  add(`https:${c}${c}h`, -1)
  add(`/${c}/h`, 0)
}

// Random compositions, the same in each run.
let state = 20260417
const random = (n) => ((state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff) >> 8) % n
const pick = (list) => list[random(list.length)]
const atoms = ["/", "/", "\\", ":", ":", "@", "?", "#", ".", "..", "%2e", "%2F", "%5c", "%00", "%zz", " ", "\t", "\n", "a", "b", OUR, H, "1", "80", "443", "0x7f", "[", "]", "[::1]", "https:", "http:", "HTTP:", "file:", "foo:", "blob:", "//", "C|", "'", "|", "^", "ü", "%C3%BC", "\0", "&", "="]
for (let i = 0; i < 1000; i++) add(Array.from({ length: 2 + random(7) }, () => pick(atoms)).join(""), pick([-1, 0, 0, 1]))

const rows = cases.map((row) => JSON.stringify(row)).join(",\n")
process.stdout.write(`{"node":"${process.version}","bases":${JSON.stringify(BASES)},"cases":[\n${rows}\n]}\n`)
