package cookie

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// chunkSize is how much of a value goes into one cookie: the 4096 bytes browsers allow for it, less 160 for the name and the
// attributes. The number is the reference's, since each side reads what the other has written.
const chunkSize = 4096 - 160

// Chunks puts together the value that Split has spread over cookies. No value means no session.
//
// Only name itself and name.0 to name.199 belong to it, and only if they are not empty. Which of them make the value:
//
//   - name alone, if it is there, whatever chunks are left over besides;
//   - else the chunks, in the order of their numbers, from the lowest until one is missing;
//   - name followed by name.1 and so on, if name has the length of a full chunk and name.0 is missing.
//
// @auth/core joins every cookie whose name begins with name, so one stray cookie signs the user out. Where that would have
// made a valid value of cookies with such names only, the last two rules do, too.
func Chunks(jar Jar, name string) string {
	plain, _ := jar.Get(name)
	if plain != "" && len(plain) != chunkSize {
		return plain
	}
	type chunk struct {
		number int
		value  string
	}
	var chunks []chunk
	for _, p := range jar.pairs {
		if i, ok := chunkNumber(p.name, name); ok && p.value != "" {
			chunks = append(chunks, chunk{i, p.value})
		}
	}
	slices.SortFunc(chunks, func(a, b chunk) int { return a.number - b.number })
	if plain != "" && (len(chunks) == 0 || chunks[0].number != 1) {
		return plain
	}
	var b strings.Builder
	b.WriteString(plain)
	for i, c := range chunks {
		if c.number != chunks[0].number+i {
			break
		}
		b.WriteString(c.value)
	}
	return b.String()
}

// Names returns all cookies that belong to the value which Chunks puts together, in the order of the request, for Split and
// Clear to replace. They may be more than the value is made from.
func Names(jar Jar, name string) (names []string) {
	for _, p := range jar.pairs {
		if _, isChunk := chunkNumber(p.name, name); p.value != "" && (isChunk || p.name == name) {
			names = append(names, p.name)
		}
	}
	return names
}

// chunkNumber reads the number of the chunk name.12. It must be written as Split writes it.
func chunkNumber(s, name string) (int, bool) {
	s, ok := strings.CutPrefix(s, name)
	if !ok || len(s) < 2 || len(s) > 4 || s[0] != '.' || s[1] == '0' && len(s) > 2 {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s[1:]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, n < maxPairs
}

// Split appends to set what sets c: c itself, or name.0, name.1 and so on if its value is longer than 3936 bytes. Every cookie in
// have that isn't written again is cleared. Those in have come first, in their order, then the new ones, as in the reference. The
// value should be ASCII, as tokens are. An empty one sets nothing and only clears.
func Split(set []Cookie, c Cookie, have []string) []Cookie {
	if c.Value != "" && len(c.Value) <= chunkSize && (len(have) == 0 || len(have) == 1 && have[0] == c.Name) {
		return append(set, c) // nearly always
	}
	cookies := Clear(c, have)
	put := func(piece Cookie) {
		i := slices.IndexFunc(cookies, func(old Cookie) bool { return old.Name == piece.Name })
		if i < 0 {
			cookies = append(cookies, piece)
		} else {
			cookies[i] = piece
		}
	}
	if c.Value != "" && len(c.Value) <= chunkSize {
		put(c)
		return append(set, cookies...)
	}
	for i, rest := 0, c.Value; rest != ""; i++ {
		n := min(chunkSize, len(rest))
		put(Cookie{Name: c.Name + "." + strconv.Itoa(i), Value: rest[:n], Options: c.Options})
		rest = rest[n:]
	}
	return append(set, cookies...)
}

// Clear returns what deletes the cookies in have: each with the options of c, an empty value and Max-Age=0, and without
// Expires. The name and value of c don't matter.
func Clear(c Cookie, have []string) []Cookie {
	options := c.Options
	options.MaxAge = -1
	options.Expires = time.Time{}
	cookies := make([]Cookie, 0, len(have)+1)
	for i, name := range have {
		if !slices.Contains(have[:i], name) {
			cookies = append(cookies, Cookie{Name: name, Options: options})
		}
	}
	return cookies
}
