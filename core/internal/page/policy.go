package page

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// ContentSecurityPolicy returns the header's value for a page with this theme. It allows the styles the page is sent with, each
// by its hash, and the logo; no script, no frame around the page, no <base>. It costs two hashes, so keep it.
//
// There is no form-action: Chromium applies it also to the redirect that answers a form, and the sign-in form's leads to the
// provider.
func (t Theme) ContentSecurityPolicy() string {
	t = t.valid()
	policy := "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; style-src " + hashSource(styleSheet)
	if style := t.style(); style != "" {
		policy += " " + hashSource(style)
	}
	if t.Logo != "" {
		policy += "; img-src " + imageSource(t.Logo)
	}
	return policy
}

// hashSource is how a policy names an element by its content (CSP level 3, 2.3.1).
func hashSource(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// imageSource is how a policy names an image, "" for what is no image's URL. Where a browser reads the URL differently, the
// image is not shown.
func imageSource(url string) string {
	switch scheme(url) {
	case "":
		if url == "" || strings.HasPrefix(url, "//") {
			return ""
		}
		return "'self'"
	case "data":
		return "data:"
	case "http", "https":
		if i := strings.IndexAny(url, "?#"); i >= 0 {
			url = url[:i]
		}
		if only(url, ":/.-_~%") {
			return url
		}
		return "http: https:" // a host or path which no policy can name: an address in brackets, letters beyond ASCII
	}
	return ""
}
