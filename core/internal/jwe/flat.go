package jwe

import "encoding/json"

// parseFlat reads what session tokens nearly always are: an object of plain strings, numbers,
// booleans and nulls, written without blanks. It gives false for everything else, right or
// wrong, which is then encoding/json's to read. The strings share the payload's one copy, so
// that reading a token costs a third of the allocations.
func parseFlat(payload []byte) (map[string]any, bool) {
	p := flatParser{text: string(payload)}
	if !p.take('{') {
		return nil, false
	}
	type member struct {
		name  string
		value any
	}
	var few [16]member
	members := few[:0] // a map made for their number is smaller than one that grows
	for done := false; !done; {
		name, ok := p.plainString()
		if !ok || !p.take(':') {
			return nil, false
		}
		value, ok := p.value()
		if !ok {
			return nil, false
		}
		members = append(members, member{name, value})
		if done = p.take('}'); !done && !p.take(',') {
			return nil, false
		}
	}
	claims := make(map[string]any, len(members))
	for _, m := range members {
		claims[m.name] = m.value
	}
	return claims, p.at == len(p.text)
}

type flatParser struct {
	text string
	at   int
}

func (p *flatParser) take(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *flatParser) takeWord(word string) bool {
	if end := p.at + len(word); end <= len(p.text) && p.text[p.at:end] == word {
		p.at = end
		return true
	}
	return false
}

func (p *flatParser) value() (any, bool) {
	switch {
	case p.at == len(p.text):
		return nil, false
	case p.text[p.at] == '"':
		return p.plainString()
	case p.takeWord("null"):
		return nil, true
	case p.takeWord("true"):
		return true, true
	case p.takeWord("false"):
		return false, true
	}
	return p.integer()
}

// plainString reads a string without escapes and control characters.
func (p *flatParser) plainString() (string, bool) {
	if !p.take('"') {
		return "", false
	}
	start := p.at
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return p.text[start : p.at-1], true
		case c == '\\' || c < 0x20:
			return "", false
		}
	}
	return "", false
}

// integer reads a number that is neither negative nor broken, without an exponent.
func (p *flatParser) integer() (any, bool) {
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	digits := p.text[start:p.at]
	if digits == "" || len(digits) > 1 && digits[0] == '0' {
		return nil, false
	}
	return json.Number(digits), true
}
