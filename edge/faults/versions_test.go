//go:build !js && !wasip1

package faults_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// A later version, which writes members that this one doesn't know into records and tokens,
// and cookies of its own, takes turns with this one at every request.
func TestE15MixedVersions(t *testing.T) {
	together(t, func(t *testing.T, runtime string, w *world) {
		for _, database := range []bool{false, true} {
			t.Run(fmt.Sprintf("database %v", database), func(t *testing.T) {
				requests := takes(t, 1000, 10_000)
				w := newWorld(t)
				env := map[string]string{"CONF_REFRESH": "1"} // each read writes
				versions := []*site{
					w.open(t, runtime, setup{database: database, env: env}),
					w.open(t, runtime, setup{database: database, env: map[string]string{"CONF_REFRESH": "1", "CONF_LATER": "2"}}),
				}
				var turn atomic.Int64
				proxy := httptest.NewServer(&httputil.ReverseProxy{
					Transport: versions[0].client.Transport,
					Rewrite: func(r *httputil.ProxyRequest) {
						target, _ := url.Parse(versions[turn.Add(1)%2].url)
						r.SetURL(target)
						r.Out.Host = r.In.Host // a site has one address, whoever answers
					},
				})
				t.Cleanup(proxy.Close)
				const people = 8
				crowd(people, people, func(i int) {
					b, name := versions[0].browser(), fmt.Sprintf("user%d", i)
					b.base = proxy.URL
					if err := b.signIn(name); err != nil {
						t.Error(err)
						return
					}
					for n := range requests / people {
						var err error
						switch {
						case n%100 == 99:
							another := b.clone()
							another.forget() // or it would replace the session
							err = errors.Join(another.signIn(name), b.is(name))
						case n%50 == 49:
							var a answer
							if a, err = b.post("/auth/session", nil); err == nil && a.status != http.StatusOK {
								err = fmt.Errorf("updating: %d %q", a.status, a.body)
							}
						default:
							err = b.is(name)
						}
						if err != nil {
							t.Errorf("request %d of %s: %v", n, name, err)
							return
						}
					}
					if _, knowsLater := b.cookies["authjs.later"]; !knowsLater {
						t.Error("the later version has not answered")
					}
				})
			})
		}
	})
}
