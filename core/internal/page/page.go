// Package page writes the built-in pages: sign-in, sign-out, "check your email" and errors. Each page is a plain struct with an
// HTML method; the package knows nothing of the rest of the project.
//
// What a page says and which forms it has is what @auth/core 0.41 sends (testdata/reference.json), so that a client or a test
// made for it finds everything. The looks are our own. A page is complete in itself: no script but the one that passkeys need,
// no request to anywhere else but for the configured logo, and a Content-Security-Policy under which nothing else could run.
package page

// Theme is the look of a page. Its values come from the configuration; one that is of no use, or could end the style sheet it
// would be written into, is left out.
type Theme struct {
	// ColorScheme is "light" or "dark". Anything else is "auto": as the browser prefers.
	ColorScheme string
	// Logo is the URL of an image: http, https, a path on this site, or data. "": no logo.
	Logo string
	// BrandColor is a CSS colour, for the line above the page and the main button. "": no line, and a blue button. The button
	// takes it only if its text can be read: if the colour is written as #rgb or #rrggbb, so that we can measure it, or if
	// ButtonText is set too.
	BrandColor string
	// ButtonText is the CSS colour of the main button's text. "": white, or black where that could not be read.
	ButtonText string
}

// valid returns the theme without the values that are left out.
func (t Theme) valid() Theme {
	if t.ColorScheme != "light" && t.ColorScheme != "dark" {
		t.ColorScheme = "auto"
	}
	if imageSource(t.Logo) == "" {
		t.Logo = ""
	}
	if !isColor(t.BrandColor) {
		t.BrandColor = ""
	}
	if !isColor(t.ButtonText) {
		t.ButtonText = ""
	}
	return t
}

// begin writes a page as far as the logo, which is decorative: who asks is said by the address bar. The theme's own style stands
// in the body, where the reference has it; the color-scheme makes the browser paint the right background before it reads a style.
func (t Theme) begin(title string) *writer {
	t = t.valid()
	scheme := t.ColorScheme
	if scheme == "auto" {
		scheme = "light dark"
	}
	w := &writer{b: make([]byte, 0, len(styleSheet)+4096)}
	w.html(`<!DOCTYPE html><html lang="en"><head><meta charset="UTF-8"><meta name="viewport" content="width=device-width, initial-scale=1">`+
		`<title>$</title><meta name="color-scheme" content="$"><style>`, title, scheme)
	w.html(styleSheet)
	w.html(`</style></head><body class="__next-auth-theme-$">[<style>$</style>]<main>[<img class="logo" alt="" src="$">]`,
		t.ColorScheme, t.style(), t.Logo)
	return w
}

// end returns the page.
func (w *writer) end() []byte {
	w.html(`</main></body></html>`)
	return w.b
}
