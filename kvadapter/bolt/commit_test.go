package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"go.etcd.io/bbolt"
)

func openStore(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// SkipSync makes tests fast.
func SkipSync(s *Store) { s.db.NoSync = true }

func (s *Store) stored() (records, transactions int) {
	_ = s.db.View(func(tx *bbolt.Tx) error {
		records, transactions = tx.Bucket(bucket).Stats().KeyN, tx.ID()
		return nil
	})
	return records, transactions
}

// Without a sync a power cut brings back a user who has signed out.
func TestEveryTransactionIsSynced(t *testing.T) {
	t.Parallel()
	s := openStore(t, filepath.Join(t.TempDir(), "store"))
	if s.db.NoSync || s.db.NoGrowSync || s.db.NoFreelistSync {
		t.Error("a kind of sync is switched off")
	}
}

// Each caller has a key of its own, and one that all of them claim.
func TestCommitsThatWaitShareATransaction(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, path)
		_, before := s.stored()
		s.writer <- struct{}{} // somebody else's transaction is under way
		const callers = 200
		own, claims := make(chan error, callers), make(chan bool, callers)
		for i := range callers {
			go func() {
				ok, err := s.Commit(t.Context(), nil, []kv.Write{{Key: fmt.Sprint("own:", i), Value: []byte("value")}})
				if !ok {
					err = errors.Join(errors.New("a commit without checks gave false"), err)
				}
				own <- err
			}()
			go func() {
				ok, err := s.Commit(t.Context(), []kv.Check{{Key: "claim"}}, []kv.Write{{Key: "claim", Value: []byte("value")}, {Key: fmt.Sprint("winner:", i), Value: []byte("value")}})
				if err != nil {
					t.Error(err)
				}
				claims <- ok
			}()
		}
		synctest.Wait()
		<-s.writer
		winners := 0
		for range callers {
			if err := <-own; err != nil {
				t.Error(err)
			}
			if <-claims {
				winners++
			}
		}
		records, after := s.stored()
		if winners != 1 || records != callers+2 {
			t.Errorf("%d callers claimed one key, and %d records are stored, want 1 and %d", winners, records, callers+2)
		}
		if after-before != 1 {
			t.Errorf("%d commits at once took %d transactions, want 1", 2*callers, after-before)
		}
	})
}

func TestACommitWaitsAsLongAsItsContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, path)
		s.writer <- struct{}{} // somebody writes, to a disk that hangs
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Commit(ctx, nil, []kv.Write{{Key: "a", Value: []byte("late")}}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Commit = %v, want the context's error", err)
		}
		if _, err := s.Get(t.Context(), "a"); err != nil {
			t.Errorf("Get, which waits for nobody, = %v", err)
		}
		<-s.writer
		if ok, err := s.Commit(t.Context(), []kv.Check{{Key: "a"}}, []kv.Write{{Key: "b", Value: []byte("value")}}); !ok || err != nil {
			t.Errorf("Commit after the one that was given up = %v, %v: that one has changed something", ok, err)
		}
	})
}

// Everybody whose commit was in it is told, also those whose checks failed because of a write
// that never happened.
func TestATransactionThatFailsFailsAll(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, path)
		s.writer <- struct{}{}
		results := make(chan error, 2)
		for range 2 {
			go func() {
				ok, err := s.Commit(t.Context(), []kv.Check{{Key: "a"}}, []kv.Write{{Key: "a", Value: []byte("value")}})
				if ok {
					err = errors.New("the commit is said to have happened")
				}
				results <- err
			}()
		}
		synctest.Wait()
		_ = s.db.Close()
		<-s.writer
		for range 2 {
			if err := <-results; !errors.Is(err, ErrClosed) {
				t.Errorf("Commit = %v, want ErrClosed", err)
			}
		}
	})
}

// Abandoned sign-ins must not fill the disk.
func TestCommitsSweepWhatHasExpired(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, path)
		SkipSync(s)
		set := func(key string, expires time.Time) {
			if ok, err := s.Commit(t.Context(), nil, []kv.Write{{Key: key, Value: []byte("value"), Expires: expires}}); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		const abandoned, alive = 320, 32
		for i := range abandoned + alive {
			expires := time.Now().Add(time.Minute)
			if i%11 == 0 {
				expires = time.Time{}
			}
			set(fmt.Sprintf("token:%04d", i), expires)
		}
		time.Sleep(time.Minute)
		if n, _ := s.stored(); n != abandoned+alive {
			t.Fatalf("%d records are stored, want %d: too much was swept", n, abandoned+alive)
		}
		// Two rounds: the first one begins somewhere.
		for range 2 * (abandoned + alive) / minSweep {
			set("other", time.Time{})
		}
		if n, _ := s.stored(); n != alive+1 {
			t.Errorf("%d records are stored, want %d", n, alive+1)
		}
	})
}

func TestAMalformedRecordIsAnError(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openStore(t, filepath.Join(t.TempDir(), "store"))
	good := record{version: 1, expires: forever, ref: "user", value: []byte("value")}.encode()
	noVersion := bytes.Clone(good)
	copy(noVersion[1:9], make([]byte, 8))
	for name, stored := range map[string][]byte{
		"empty": {}, "format": {1, 2, 3}, "short": good[:headerSize], "no-value": good[:headerSize+4], "half-a-ref": good[:headerSize+3], "no-version": noVersion,
		"ref":   record{version: 1, ref: "\n", value: []byte("value")}.encode(),
		"large": record{version: 1, value: make([]byte, kv.MaxValue+1)}.encode(),
	} {
		if err := s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put([]byte(name), stored) }); err != nil {
			t.Fatal(err)
		}
		_, getErr := s.Get(ctx, "other", name)
		_, commitErr := s.Commit(ctx, []kv.Check{{Key: name}}, []kv.Write{{Key: "other", Value: []byte("value")}})
		_, _, listErr := s.List(ctx, name, "")
		for call, err := range map[string]error{"Get": getErr, "Commit": commitErr, "List": listErr} {
			if f := (*FormatError)(nil); !errors.As(err, &f) {
				t.Errorf("%s of a malformed record (%s) = %v, want a *FormatError", call, name, err)
			}
		}
		// Replacing it repairs it.
		if ok, err := s.Commit(ctx, nil, []kv.Write{{Key: name, Value: []byte("value")}}); !ok || err != nil {
			t.Error(ok, err)
		}
		if got, err := s.Get(ctx, name, "other"); err != nil || string(got[0].Value) != "value" || got[1].Version != "" {
			t.Errorf("Get after it was replaced = %q, %v", got, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte(strings.Repeat("\x02", headerSize+3)))
	for _, w := range []kv.Write{
		{Value: []byte("value")},
		{Value: []byte{0}, Ref: "user", Expires: time.UnixMilli(1<<45 - 1)},
		{Value: []byte("value"), Ref: "user:1", Expires: time.UnixMilli(0)},
		{Value: []byte("value"), Expires: time.Unix(-1, 1)},
	} {
		f.Add(newRecord(7, w).encode())
	}
	f.Fuzz(func(t *testing.T, stored []byte) {
		r, err := decode(stored)
		if err != nil {
			return
		}
		if again := r.encode(); !bytes.Equal(again, stored) {
			t.Errorf("%x is read as %v and written as %x", stored, r, again)
		}
		if r.end().IsZero() != (r.expires == forever) && r.end().Year() != 1 {
			t.Errorf("the expiry %d is read as %v", r.expires, r.end())
		}
	})
}
