package page

import (
	"strconv"
	"strings"
	"time"
)

// Mail is the message with a sign-in link or a code. It is no page, but it has the same theme and is written by the same
// rules: complete in itself, with every value escaped.
type Mail struct {
	Theme Theme
	Host  string        // of the site
	URL   string        // the link; not shown if there is a code
	Code  string        // to be typed in; "": there is a link
	Life  time.Duration // how long it can be used
}

// Subject is the one that the reference sends, which people have filters for.
func (m Mail) Subject() string { return "Sign in to " + m.Host }

// life is the time left in the largest unit that doesn't promise more than there is.
func (m Mail) life() string {
	unit, n := "minute", int(m.Life/time.Minute)
	if n >= 120 {
		unit, n = "hour", n/60
	}
	if n != 1 {
		unit += "s"
	}
	return strconv.Itoa(max(n, 0)) + " " + unit
}

// Text is the message for mail programs that show no HTML.
func (m Mail) Text() string {
	if m.Code != "" {
		return "Your code to sign in to " + m.Host + ":\n\n" + m.Code + "\n\nIt works once, in the browser that asked for it, for " + m.life() +
			".\nNobody will ever ask you for it.\n\n" + ignore + "\n"
	}
	return "Sign in to " + m.Host + "\n" + m.URL + "\n\nThe link works once, for " + m.life() + ".\n\n" + ignore + "\n"
}

const ignore = "If you did not ask for this email, you can ignore it."

// HTML is the message as most people see it. Its styles are attributes and its layout is a table, because of the mail programs
// that know nothing else. A word joiner before each dot of the host keeps them from making a link of it.
func (m Mail) HTML() []byte {
	t := m.Theme.valid()
	background, text := "#1d4ed8", or(t.ButtonText, "#fff")
	if t.BrandColor != "" && (t.ButtonText != "" || textOn(t.BrandColor) != "") {
		background, text = t.BrandColor, or(t.ButtonText, textOn(t.BrandColor))
	}
	scheme := t.ColorScheme
	if scheme == "auto" {
		scheme = "light dark"
	}
	host := strings.ReplaceAll(m.Host, ".", "\u2060.")
	w := &writer{}
	w.html(`<!DOCTYPE html><html lang="en"><head><meta charset="UTF-8"><meta name="viewport" content="width=device-width, initial-scale=1">`+
		`<meta name="color-scheme" content="$"><title>$</title></head><body style="margin:0;padding:24px 12px;font:16px/1.5 system-ui,Helvetica,Arial,sans-serif">`+
		`<table role="presentation" width="100%" cellspacing="0" cellpadding="0" style="max-width:480px;margin:0 auto">`, scheme, m.Subject())
	if m.Code != "" {
		w.html(`<tr><td align="center" style="padding:8px 0 16px;font-size:20px">Your code to sign in to <strong>$</strong></td></tr>`+
			`<tr><td align="center" style="padding:8px 0;font:bold 32px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:.2em">$</td></tr>`+
			`<tr><td align="center" style="padding:16px 0 0;font-size:14px">It works once, in the browser that asked for it, for $.<br>Nobody will ever ask you for it.</td></tr>`,
			host, m.Code, m.life())
	} else {
		w.html(`<tr><td align="center" style="padding:8px 0 16px;font-size:20px">Sign in to <strong>$</strong></td></tr>`+
			`<tr><td align="center" style="padding:8px 0"><a href="$" style="display:inline-block;padding:12px 24px;border-radius:6px;background:$;color:$;font-weight:bold;text-decoration:none">Sign in</a></td></tr>`+
			`<tr><td align="center" style="padding:16px 0 0;font-size:14px">The link works once, for $.</td></tr>`,
			host, webURL(m.URL), background, text, m.life())
	}
	w.html(`<tr><td align="center" style="padding:8px 0 0;font-size:14px">$</td></tr></table></body></html>`, ignore)
	return w.b
}
