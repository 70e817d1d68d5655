package core

import (
	"net/http"
	"strings"

	"github.com/edgeauth/edgeauth/core/client"
)

// The URL of the module stays the same when its text changes, so caches ask again after an hour.
// For a day more they may do so behind the back of a page that gets the old text (RFC 5861,
// section 3): it talks to any version of the handler.
const clientCaching = "public, max-age=3600, stale-while-revalidate=86400"

// clientFile answers GET client.mjs and GET client.d.ts, alike for everybody: it reads and sets
// no cookie. Nil: the request is another one.
func (x *exchange) clientFile() *Response {
	switch x.action {
	case ActionClient:
		return x.file("text/javascript; charset=utf-8", client.Module())
	case ActionClientTypes:
		return x.file("text/plain; charset=utf-8", client.Types())
	}
	return nil
}

func (x *exchange) file(mime, text string) *Response {
	if x.r.Method != http.MethodGet {
		return badRequest()
	}
	tag := `"` + hashHex(text)[:32] + `"`
	resp := bare(http.StatusOK, mime, text)
	if matchesTag(x.r.Header.Values("If-None-Match"), tag) {
		resp = &Response{Status: http.StatusNotModified, Header: http.Header{}}
	}
	resp.Header.Set("ETag", tag)
	resp.Header.Set("Cache-Control", clientCaching)
	return resp
}

// matchesTag compares weakly (RFC 9110, section 13.1.2): a proxy that compresses the body marks
// the tag as weak.
func matchesTag(lines []string, tag string) bool {
	for _, line := range lines {
		for one := range strings.SplitSeq(line, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}
