package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

func TestStoreKeepsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	now := time.Unix(1_000_000, 0)
	s := memory.New(func() time.Time { return now })
	value := []byte("value")
	if err := s.Put(ctx, "a", value, now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	value[0] = 'X'
	got, ok, err := s.Get(ctx, "a")
	if string(got) != "value" || !ok || err != nil {
		t.Fatalf("Get = %q, %v, %v, want what was put", got, ok, err)
	}
	got[0] = 'X'
	if got, _, _ := s.Get(ctx, "a"); string(got) != "value" {
		t.Errorf("a caller changed the stored value to %q", got)
	}
	now = now.Add(time.Second)
	if _, ok, err := s.Get(ctx, "a"); ok || err != nil {
		t.Errorf("Get at the moment of expiry = %v, %v, want absent", ok, err)
	}
	if err := s.Put(ctx, "empty", nil, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if got, ok, _ := s.Get(ctx, "empty"); got == nil || len(got) != 0 || !ok {
		t.Errorf("Get of an empty value = %v, %v, want it there and empty", got, ok)
	}
	for range 2 {
		if err := s.Delete(ctx, "empty"); err != nil {
			t.Error(err)
		}
	}
	if _, ok, _ := s.Get(ctx, "empty"); ok {
		t.Error("a deleted value is still there")
	}
}

func TestListGivesPagesInOrder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	now := time.Unix(1_000_000, 0)
	s := memory.New(func() time.Time { return now })
	for i := range 2500 {
		if err := s.Put(ctx, fmt.Sprintf("p:%04d", i), nil, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	_ = s.Put(ctx, "p:ended", nil, now)
	_ = s.Put(ctx, "q", nil, time.Time{})
	var all []string
	pages, cursor := 0, ""
	for {
		keys, next, err := s.List(ctx, "p:", cursor)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, keys...)
		pages++
		if cursor = next; cursor == "" {
			break
		}
	}
	if len(all) != 2500 || pages != 3 || all[0] != "p:0000" || all[2499] != "p:2499" {
		t.Errorf("%d keys in %d pages from %s to %s", len(all), pages, all[0], all[len(all)-1])
	}
}

func TestKeysThatNoStoreHolds(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := memory.New(nil)
	for _, key := range []string{"", ".", "..", strings.Repeat("k", 513)} {
		_, _, getErr := s.Get(ctx, key)
		for call, err := range map[string]error{"Get": getErr, "Put": s.Put(ctx, key, nil, time.Time{}), "Delete": s.Delete(ctx, key)} {
			if !errors.Is(err, memory.ErrKey) {
				t.Errorf("%s(%.10q) = %v, want ErrKey", call, key, err)
			}
		}
	}
	if err := s.Put(ctx, strings.Repeat("k", 512), nil, time.Time{}); err != nil {
		t.Errorf("a key of 512 bytes: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := s.List(ended, "", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("List with an ended context = %v", err)
	}
}
