package jsx

import (
	"context"
	"net/http"
	"testing"
)

const sessionHead = "GET\nhttp://x.test/api/auth/session\nhost\nx.test\nuser-agent\nMozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140\n" +
	"accept\n*/*\naccept-language\nen-US,en;q=0.9\naccept-encoding\ngzip, br\ncookie\nauthjs.session-token=eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2Q0JDLUhTNTEyIn0..aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n" +
	"referer\nhttps://x.test/\nsec-fetch-mode\ncors\n"

// What the bridge itself does for a request, apart from crossing.
func BenchmarkExchange(b *testing.B) {
	body := make([]byte, 300)
	b.ReportAllocs()
	for b.Loop() {
		r, err := UTF8.NewRequest(context.Background(), sessionHead, nil)
		if err != nil {
			b.Fatal(err)
		}
		w := &Response{Charset: UTF8, Method: r.Method}
		h := w.Header()
		h["Content-Type"] = []string{"application/json"}
		h["Cache-Control"] = []string{"private, no-cache, no-store"}
		h["Expires"] = []string{"0"}
		h["Pragma"] = []string{"no-cache"}
		h["Set-Cookie"] = []string{"a=1; Path=/; HttpOnly; SameSite=Lax", "b=2; Path=/; HttpOnly; SameSite=Lax"}
		w.WriteHeader(http.StatusOK)
		w.Write(body)
		w.Finish()
	}
}
