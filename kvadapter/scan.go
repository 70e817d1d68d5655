package kvadapter

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A scanner reads a value as encode writes it, member by member. Package encoding/json takes
// several times as long, which would be most of a session check. Whatever it doesn't expect, such
// as an escape, it leaves to that package.
type scanner struct {
	rest   string
	failed bool
}

// scanned is a record that session checks read.
type scanned interface {
	record
	scan(s *scanner)
}

// literal skips text that must be there.
func (s *scanner) literal(text string) {
	rest, ok := strings.CutPrefix(s.rest, text)
	s.rest, s.failed = rest, s.failed || !ok
}

// text reads a string behind a literal.
func (s *scanner) text(before string) string {
	s.literal(before)
	s.literal(`"`)
	end := strings.IndexByte(s.rest, '"')
	if s.failed || end < 0 {
		s.failed = true
		return ""
	}
	out := s.rest[:end]
	for i := range len(out) {
		s.failed = s.failed || out[i] < ' ' || out[i] == '\\'
	}
	s.failed = s.failed || !utf8.ValidString(out)
	s.rest = s.rest[end+1:]
	return out
}

// number reads an integer behind a literal.
func (s *scanner) number(before string) int64 {
	s.literal(before)
	end := 0
	for end < len(s.rest) && (s.rest[end] == '-' || '0' <= s.rest[end] && s.rest[end] <= '9') {
		end++
	}
	digits := s.rest[:end]
	n, err := strconv.ParseInt(digits, 10, 64)
	s.failed = s.failed || err != nil || digits != strconv.FormatInt(n, 10)
	s.rest = s.rest[end:]
	return n
}

func (h *header) scanHead(s *scanner) {
	h.Kind = s.text(`{"kind":`)
	h.Version = int(s.number(`,"version":`))
	h.Key = s.text(`,"key":`)
	h.Commit = s.text(`,"commit":`)
}

// scan reads a profile whose first member is behind a literal.
func (p *profile) scanProfile(s *scanner, before string) {
	p.ID = s.text(before + `"id":`)
	p.Name = s.text(`,"name":`)
	p.Email = s.text(`,"email":`)
	p.Image = s.text(`,"image":`)
	p.EmailVerified = s.number(`,"emailVerified":`)
	s.literal(`,"extra":null`)
}

func (r *sessionRecord) scan(s *scanner) {
	r.scanHead(s)
	r.User = s.text(`,"user":`)
	r.Expires = s.number(`,"expires":`)
	s.literal("}")
}

// scan leaves out the index, which may be long.
func (u *userProfile) scan(s *scanner) {
	u.scanHead(s)
	u.scanProfile(s, ",")
	s.literal(`,"owns":`)
	if strings.HasSuffix(s.rest, "}}") || strings.HasSuffix(s.rest, `,"sessions":null}`) {
		s.rest = ""
	}
}

func (c *sessionCopy) scan(s *scanner) {
	c.scanHead(s)
	c.User.scanProfile(s, `,"user":{`)
	c.Expires = s.number(`},"expires":`)
	c.Until = s.number(`,"until":`)
	s.literal(`,"ended":false}`)
}
