package page

import (
	"math"
	"strconv"
	"strings"
)

// style returns the style of a valid theme, "" if the common one will do. The Content-Security-Policy has its hash, so it
// depends on nothing else.
func (t Theme) style() string {
	style := ""
	if t.BrandColor != "" {
		style = ":root{--brand-color: " + t.BrandColor + "}"
	}
	text := t.ButtonText
	if text == "" {
		text = textOn(t.BrandColor)
	}
	if text != "" {
		if t.BrandColor != "" {
			style += ".primary{background:" + t.BrandColor + "}"
		}
		style += ".primary{color:" + text + "}"
	}
	return style
}

// isColor reports whether s may stand where a style sheet has a colour: in any notation, also one yet to be invented, but with no
// character and no open parenthesis that could end the declaration or begin a comment, a string or a tag. Whether there is such
// a colour is for the browser to say; it ignores a declaration with one it doesn't know.
func isColor(s string) bool {
	if s == "" || !only(s, "#.,%() +-/") {
		return false
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}

// textOn returns the colour of text to be read on a background written as #rgb or #rrggbb, and "" for any other: white where its
// contrast is the 4.5:1 that WCAG 2.2 wants (1.4.3), else black, which then has more.
func textOn(background string) string {
	l, ok := luminance(background)
	switch {
	case !ok:
		return ""
	case 1.05/(l+0.05) >= 4.5:
		return "#fff"
	}
	return "#000"
}

// luminance returns the relative luminance (WCAG 2.2) of a colour written as #rgb or #rrggbb.
func luminance(color string) (float64, bool) {
	hex, found := strings.CutPrefix(color, "#")
	if !found || !only(hex, "") {
		return 0, false
	}
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	rgb, err := strconv.ParseUint(hex, 16, 24)
	if err != nil || len(hex) != 6 {
		return 0, false
	}
	return 0.2126*linear(rgb>>16) + 0.7152*linear(rgb>>8&0xff) + 0.0722*linear(rgb&0xff), true
}

// linear takes the gamma out of a channel of sRGB.
func linear(channel uint64) float64 {
	c := float64(channel) / 255
	if c <= 0.04045 {
		return c / 12.92
	}
	c = (c + 0.055) / 1.055
	// c to the power of 2.4, without math.Pow, which would be 3 KB of a worker: 0.4 is 0.0110 0110 0110… in binary.
	power := c * c
	for bit := 1; bit <= 24; bit++ {
		c = math.Sqrt(c)
		if bit%4 == 2 || bit%4 == 3 {
			power *= c
		}
	}
	return power
}
