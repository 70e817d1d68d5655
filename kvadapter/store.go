package kvadapter

import "github.com/edgeauth/edgeauth/kvadapter/kv"

// What a store is, is said in package kv, which whoever writes one imports alone.
type (
	Store  = kv.Store  // reads keys, and commits several as a whole
	Entry  = kv.Entry  // what is stored under a key
	Check  = kv.Check  // the version that a key must have
	Write  = kv.Write  // what a key becomes
	Lister = kv.Lister // a store that can say what is in it
	Cache  = kv.Cache  // holds copies for a while, such as Workers KV
)
