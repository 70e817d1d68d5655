package jwe

import "sync/atomic"

// Ring holds the keys of one salt. It is safe for concurrent use.
//
// Keys are derived when they are first needed, since a cold start needs one of them and most need no other. Nobody waits for
// another's derivation: two that need the same key at the same time derive it twice.
type Ring struct {
	secrets []string
	salt    string
	cbc     []atomic.Pointer[cbcKey]
	gcm     []atomic.Pointer[gcmKey]
}

// NewRing returns the ring of the secrets, newest first. The first seals; all open. The salt is the name of the cookie that
// carries the tokens. A ring without secrets opens and seals nothing.
func NewRing(secrets []string, salt string) *Ring {
	return &Ring{
		secrets: append([]string(nil), secrets...),
		salt:    salt,
		cbc:     make([]atomic.Pointer[cbcKey], len(secrets)),
		gcm:     make([]atomic.Pointer[gcmKey], len(secrets)),
	}
}

// cbcKeyOf returns the key with this id, or the newest if the token names none, or nil. An empty id is an id.
func (r *Ring) cbcKeyOf(id string, named bool) *cbcKey {
	for i := range r.secrets {
		if k := r.cbcKey(i); !named || k.id == id {
			return k
		}
	}
	return nil
}

func (r *Ring) gcmKeyOf(id string, named bool) *gcmKey {
	for i := range r.secrets {
		if k := r.gcmKey(i); !named || k.id == id {
			return k
		}
	}
	return nil
}

func (r *Ring) cbcKey(i int) *cbcKey {
	k := r.cbc[i].Load()
	if k == nil {
		k = newCBCKey(r.secrets[i], r.salt)
		r.cbc[i].Store(k)
	}
	return k
}

func (r *Ring) gcmKey(i int) *gcmKey {
	k := r.gcm[i].Load()
	if k == nil {
		k = newGCMKey(r.secrets[i], r.salt)
		r.gcm[i].Store(k)
	}
	return k
}
