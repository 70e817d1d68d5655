//go:build js || wasip1

package edge

import (
	"context"
	"fmt"

	"github.com/edgeauth/edgeauth/edge/abi"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// A remote is a store that is asked with the messages of package abi.
type remote struct {
	// ask does an operation: get, commit or list.
	ask func(ctx context.Context, operation string, message []byte) (answer []byte, err error)
}

func (s remote) Get(ctx context.Context, keys ...string) ([]kv.Entry, error) {
	if err := kv.CheckGet(ctx, keys); err != nil {
		return nil, err
	}
	var answer abi.Entries
	err := s.exchange(ctx, "get", &abi.Get{Keys: keys}, &answer)
	if err == nil && len(answer.Entries) < len(keys) {
		err = fmt.Errorf("edge: a store gave %d entries for %d keys", len(answer.Entries), len(keys))
	}
	return answer.Entries, err
}

func (s remote) Commit(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
	if err := kv.CheckCommit(ctx, checks, writes); err != nil {
		return false, err
	}
	var answer abi.Done
	err := s.exchange(ctx, "commit", &abi.Commit{Checks: checks, Writes: writes}, &answer)
	return answer.OK, err
}

func (s remote) List(ctx context.Context, prefix, cursor string) ([]kv.Write, string, error) {
	if err := kv.CheckList(ctx, prefix); err != nil {
		return nil, "", err
	}
	var answer abi.Page
	err := s.exchange(ctx, "list", &abi.List{Prefix: prefix, Cursor: cursor}, &answer)
	return answer.Writes, answer.Next, err
}

func (s remote) exchange(ctx context.Context, operation string, message interface{ Append([]byte) []byte }, answer interface{ Decode([]byte) error }) error {
	encoded, err := s.ask(ctx, operation, message.Append(nil))
	if err != nil {
		return err
	}
	if err := answer.Decode(encoded); err != nil {
		return fmt.Errorf("edge: a store's answer to %s: %w", operation, err)
	}
	return nil
}
