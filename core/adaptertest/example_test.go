package adaptertest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// TestAdapter is all that somebody who writes an adapter needs.
func TestAdapter(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T) *core.Adapter {
		return adaptertest.Memory() // your adapter, over an empty store that t.Cleanup closes
	}, adaptertest.Options{Skip: map[string]string{
		"authenticators": "no passkeys yet", // a group of cases, or one case, and why
	}})
}

// Without package testing, here with an adapter that forgets to delete tokens.
func ExampleTest() {
	open := func(context.Context) (*core.Adapter, error) {
		adapter := adaptertest.Memory()
		use := adapter.UseVerificationToken
		adapter.UseVerificationToken = func(ctx context.Context, identifier, token string) (*core.VerificationToken, error) {
			found, err := use(ctx, identifier, token)
			if found != nil {
				err = adapter.CreateVerificationToken(ctx, *found)
			}
			return found, err
		}
		return adapter, nil
	}
	err := adaptertest.Test(context.Background(), open, adaptertest.Options{})
	var first *adaptertest.Failure
	if errors.As(err, &first) {
		fmt.Printf("%s: %s\n", first.Case, first.Rule)
	}
	// Output: tokens/use: UseVerificationToken gives the token once
}
