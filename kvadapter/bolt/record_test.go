package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"
)

func (s *Store) stored() (n int) {
	_ = s.db.View(func(tx *bbolt.Tx) error {
		n = tx.Bucket(bucket).Stats().KeyN
		return nil
	})
	return n
}

// SkipSync makes tests fast.
func SkipSync(s *Store) { s.db.NoSync = true }

// Without fsync a power cut brings back who has signed out.
func TestEveryWriteIsSynced(t *testing.T) {
	t.Parallel()
	s, err := Open(filepath.Join(t.TempDir(), "store"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.db.NoSync || s.db.NoGrowSync || s.db.NoFreelistSync {
		t.Error("a kind of fsync is switched off")
	}
}

// Abandoned sign-ins must not fill the disk.
func TestWritesSweepWhatHasExpired(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		SkipSync(s)
		const abandoned, alive = 320, 32
		for i := range abandoned + alive {
			expires := time.Now().Add(time.Minute)
			if i%11 == 0 {
				expires = time.Time{}
			}
			if err := s.Put(ctx, fmt.Sprintf("token:%04d", i), nil, expires); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if n := s.stored(); n != abandoned+alive {
			t.Fatalf("%d records are stored, want %d: too much was swept", n, abandoned+alive)
		}
		// Two rounds: the first one begins somewhere.
		for range 2 * (abandoned + alive) / sweepSize {
			if err := s.Put(ctx, "other", nil, time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		if n := s.stored(); n != alive+1 {
			t.Errorf("%d records are stored, want %d", n, alive+1)
		}
	})
}

func TestAMalformedRecordIsAnError(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, err := Open(filepath.Join(t.TempDir(), "store"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, record := range map[string][]byte{"empty": {}, "kind": {9, 1}, "short": {until, 0, 0}, "nanoseconds": bytes.Repeat([]byte{until, 0xff}, 7)} {
		if err := s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put([]byte(name), record) }); err != nil {
			t.Fatal(err)
		}
		_, _, getErr := s.Get(ctx, name)
		_, _, takeErr := s.Take(ctx, name)
		_, insertErr := s.Insert(ctx, name, nil, time.Time{})
		_, swapErr := s.Swap(ctx, name, nil, nil, time.Time{})
		_, _, listErr := s.List(ctx, name, "")
		for call, err := range map[string]error{"Get": getErr, "Take": takeErr, "Insert": insertErr, "Swap": swapErr, "List": listErr} {
			if f := (*FormatError)(nil); !errors.As(err, &f) {
				t.Errorf("%s of a malformed record (%s) = %v, want a *FormatError", call, name, err)
			}
		}
		// Whoever deletes or replaces it has repaired it.
		if err := s.Put(ctx, name, []byte("value"), time.Time{}); err != nil {
			t.Error(err)
		}
		if got, ok, err := s.Get(ctx, name); string(got) != "value" || !ok || err != nil {
			t.Errorf("Get after Put = %q, %v, %v", got, ok, err)
		}
	}
}

func TestAWriterWaitsAsLongAsItsContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.writer <- struct{}{} // somebody writes, to a disk that hangs
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Put(ctx, "a", nil, time.Time{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Put = %v, want the context's error", err)
		}
		if _, _, err := s.Get(t.Context(), "a"); err != nil {
			t.Errorf("Get, which waits for nobody, = %v", err)
		}
		<-s.writer
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{forever})
	f.Add(encode([]byte("value"), time.Time{}))
	f.Add(encode(nil, time.Unix(1<<40, 999_999_999)))
	f.Add(encode([]byte{0}, time.Unix(-1, 1)))
	f.Fuzz(func(t *testing.T, record []byte) {
		expires, value, err := decode(record)
		if err != nil {
			return
		}
		if again := encode(value, expires); !bytes.Equal(again, record) {
			t.Errorf("%x is read as %v and written as %x", record, expires, again)
		}
	})
}
