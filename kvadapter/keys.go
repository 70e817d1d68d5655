package kvadapter

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// The kinds of records. None is the beginning of another.
const (
	kindUser    = "user"
	kindAddress = "address"
	kindAccount = "account"
	kindPasskey = "passkey"
	kindSession = "session"
	kindCopy    = "copy" // of a session
	kindToken   = "token"
)

// keyOf is the key of a record, without the prefix of Options: its kind, a dot, and SHA-256
// in base64url of what identifies it. Each part goes in behind its length, so that no two
// lists of parts are the same bytes. Whoever reads the keys of a store learns no secret.
func keyOf(kind string, parts ...string) string {
	h := sha256.New()
	var length [8]byte
	for _, part := range parts {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write([]byte(part))
	}
	return kind + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

func kindOf(key string) string {
	kind, _, _ := strings.Cut(key, ".")
	return kind
}

// isKeyPrefix leaves room for the longest key and keeps to what Workers KV, NATS, Redis and
// files take.
func isKeyPrefix(prefix string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
	return len(prefix) <= 100 && strings.Trim(prefix, letters) == "" && !strings.HasPrefix(prefix, ".") && !strings.Contains(prefix, "..")
}
