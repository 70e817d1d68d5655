// Writes forms.json: what Node makes of form bodies and components. Run: node forms.mjs > forms.json
//
// Each text that JavaScript has none for (bytes that are not UTF-8) is left out; the Go tests name those themselves.
// {"node": version, "forms": [[input, [[name, value]], serialised]], "components": [[text, encodeURIComponent, decodeURIComponent or null]]}

const texts = [
  "", "?", "??a=b", "a", "=", "=b", "a=", "a=b", "a=b=c", "&", "&&a=b&&", "a=b&a=c", "a=b;c=d", "a=b+c", "a+b=c", "a=%2B", "a=%20", "%61=%62", "a=%", "a=%4", "a=%zz", "a=%4g%41", "a=%C3%BC", "a=%c3%bc", "a=ü", "a=日本",
  "a=%FF", "a=%C3", "a=%C3x", "a=%E2%82", "a=%E2%82%41", "a=%E2%82%E2%82%AC", "a=%F0%9F%98", "a=%F0%9F%98%80", "a=%ED%A0%80", "a=%C0%80", "a=%F4%90%80%80", "a=%F5%80", "a=%80%80", "a=%EF%BB%BFb", "%EF%BB%BFa=b",
  "a=%00", "a=\0", "a[]=1&a[]=2", "a=%26%3D", "a=\u{1F600}", "a=!'()*-._~", "a=@:/?#", "a=\r\n", "a=%0D%0A", "a=%E0%80%80", "a=%E0%A0", "a=%F0%8F%BF", "a=%F1%80%80%80", "a=%E2%28%A1", "a=%FE%FE%FF", "__proto__=1&constructor=2",
  "%", "%%", "%2", "%25", "%2525", "%E2%82%AC", "%E2%82%ac%", "100%", "a%20b", "%e4", "%7C", "|", "a;b,c\"d\\e", "\ud7ff\ue000", "%ED%9F%BF", "%EE%80%80", "%ED%BF%BF", "%F4%8F%BF%BF", "%F8%88%80%80%80", "%C3%28", "%EF%BF%BD", "\ufffd",
]
for (let c = 0; c < 0x80; c++) texts.push(`a=${String.fromCharCode(c)}b`)
for (let c = 0xc0; c < 0x100; c++) {
  const x = `%${c.toString(16).padStart(2, "0")}`
  texts.push(x, `x${x}%80`, `${x}%BF%80%80y`, `${x}%a0%80`)
}

const forms = texts.map((s) => {
  const q = new URLSearchParams(s)
  return [s, [...q], q.toString()]
})
// Beside a broken escape Node takes the byte of ü from Latin-1, against the standard, so this one is no form.
const components = [...texts, "%C3ü"].map((s) => {
  try {
    return [s, encodeURIComponent(s), decodeURIComponent(s)]
  } catch {
    return [s, encodeURIComponent(s), null]
  }
})
const lines = (list) => list.map((row) => JSON.stringify(row)).join(",\n")
process.stdout.write(`{"node":"${process.version}","forms":[\n${lines(forms)}\n],"components":[\n${lines(components)}\n]}\n`)
