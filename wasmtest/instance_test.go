package wasmtest

import (
	"io"
	"testing"
)

// BenchmarkInstance is what one more instance of a compiled module costs: its memory, package init and main up to edge.Serve.
func BenchmarkInstance(b *testing.B) {
	for name, env := range map[string]map[string]string{
		"testdata/echo": nil,
		"testdata/site/guest": {
			"AUTH_SECRET": "not-a-secret-not-a-secret-not-a-secret", "AUTH_IDP_ISSUER": "https://idp.example", "AUTH_IDP_ID": "id", "AUTH_IDP_SECRET": "secret",
			"AUTH_RESEND_KEY": "key", "AUTH_CODE_KEY": "key",
		},
	} {
		for _, isUninterruptible := range []bool{false, true} {
			b.Run(map[bool]string{false: name, true: name + "-uninterruptible"}[isUninterruptible], func(b *testing.B) {
				m := New(b, name, Config{Env: env, Log: io.Discard, Uninterruptible: isUninterruptible})
				for b.Loop() {
					in, err := m.instantiate(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					in.close()
				}
			})
		}
	}
}
