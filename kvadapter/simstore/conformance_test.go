package simstore_test

import (
	"testing"

	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/simstore"
	"github.com/edgeauth/edgeauth/kvadapter/storetest"
)

// Without what makes it eventual, a location keeps the contract of stores, and the strongly
// consistent store keeps all of it.
func TestConformance(t *testing.T) {
	t.Parallel()
	clock := simstore.NewClock(simstore.Epoch)
	options := simstore.Options{Clock: clock, CacheTTL: -1, ListLag: -1, WriteInterval: -1, MinTTL: -1, EmptyPages: true}
	t.Run("location", func(t *testing.T) {
		storetest.Run(t, func(*testing.T) kvadapter.Store { return simstore.New(options).At(0) }, storetest.Options{
			Skip: map[string]string{"atomic": "a location has no such methods"}, Now: clock.Now, Advance: clock.Advance,
		})
	})
	t.Run("atomic", func(t *testing.T) {
		storetest.Run(t, func(*testing.T) kvadapter.Store { return simstore.New(options).Atomic() }, storetest.Options{Now: clock.Now, Advance: clock.Advance})
	})
}
