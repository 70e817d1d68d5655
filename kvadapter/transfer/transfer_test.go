//go:build !wasm

package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/bolt"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
	"github.com/edgeauth/edgeauth/kvadapter/transfer"
)

var soon = time.Now().Add(time.Hour).Truncate(time.Millisecond)

// fill stores users with what belongs to them, and values that no adapter would write.
func fill(t *testing.T, store kv.Store, prefix string, users int) {
	t.Helper()
	a := kvadapter.New(store, kvadapter.Options{KeyPrefix: prefix})
	for i := range users {
		id := fmt.Sprintf("user-%d", i)
		_, _, err := a.SignUp(t.Context(), core.SignUp{
			User:          core.User{ID: id, Name: "Zoë <\u2028>", Email: id + "@example.com", Extra: map[string]any{"role": "admin"}},
			Account:       &core.Account{Provider: "github", ProviderAccountID: id, UserID: id, Type: core.TypeOAuth, AccessToken: "secret"},
			Authenticator: &core.Authenticator{CredentialID: id, UserID: id, CredentialPublicKey: "pQ==", Counter: 7},
			Session:       &core.AdapterSession{SessionToken: "token-" + id, UserID: id, Expires: soon},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, value := range []string{"\x00\xff", "{\n}", " 1 ", "null", `""`, "{\"a\":1,\"a\":2,\"b\":\"<&>\"}", "\"\xff\"", "1e3", strings.Repeat("\x80", kv.MaxValue)} {
		put(t, store, kv.Write{Key: fmt.Sprintf("%sodd.%d", prefix, i), Value: []byte(value), Ref: prefix + "odd.0", Expires: soon})
	}
}

func put(t *testing.T, store kv.Store, writes ...kv.Write) {
	t.Helper()
	if ok, err := store.Commit(t.Context(), nil, writes); !ok || err != nil {
		t.Fatal(ok, err)
	}
}

// dump gives what is in a store, by keys without a prefix.
func dump(t *testing.T, store kv.Lister, prefix string) map[string]kv.Write {
	t.Helper()
	all, cursor := map[string]kv.Write{}, ""
	for {
		page, next, err := store.List(t.Context(), prefix, cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range page {
			key := strings.TrimPrefix(w.Key, prefix)
			all[key] = kv.Write{Key: key, Value: w.Value, Ref: strings.TrimPrefix(w.Ref, prefix), Expires: w.Expires.UTC()}
		}
		if cursor = next; next == "" {
			return all
		}
	}
}

func wantSame(t *testing.T, got, want map[string]kv.Write) {
	t.Helper()
	same := func(a, b kv.Write) bool {
		return a.Key == b.Key && bytes.Equal(a.Value, b.Value) && a.Ref == b.Ref && a.Expires.Equal(b.Expires)
	}
	if len(want) == 0 || !maps.EqualFunc(got, want, same) {
		t.Fatalf("the stores differ: %d records, want %d", len(got), len(want))
	}
}

func export(t *testing.T, from kv.Lister, prefix string) string {
	t.Helper()
	var file bytes.Buffer
	if _, err := transfer.Export(t.Context(), from, &file, transfer.ExportOptions{Prefix: prefix}); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

func TestRecordsComeOutOfAFileAsTheyWentIn(t *testing.T) {
	t.Parallel()
	from := memory.New(nil)
	fill(t, from, "old.", 600)
	put(t, from, kv.Write{Key: "other.user.1", Value: []byte("{}")})
	file := export(t, from, "old.")
	for _, text := range []string{`"other.`, `"key":"old.`, `"ref":"old.`} {
		if strings.Contains(file, text) {
			t.Errorf("the file has %s", text)
		}
	}
	to, err := bolt.Open(filepath.Join(t.TempDir(), "auth.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { to.Close() })
	calls := 0
	done, err := transfer.Import(t.Context(), to, strings.NewReader(file), transfer.ImportOptions{
		Prefix: "new.", Progress: func(transfer.Imported) { calls++ },
	})
	want := dump(t, from, "old.")
	if err != nil || done.Written != len(want) || !done.Complete || done.Lines != strings.Count(file, "\n")-1 || calls < 2 {
		t.Fatalf("Import = %+v, %v after %d commits, want %d records", done, err, calls, len(want))
	}
	wantSame(t, dump(t, to, "new."), want)
	s, u, err := kvadapter.New(to, kvadapter.Options{KeyPrefix: "new."}).GetSessionAndUser(t.Context(), "token-user-7")
	if err != nil || s == nil || u.ID != "user-7" || u.Extra["role"] != "admin" {
		t.Errorf("a session of the old store is %v, %v, %v in the new one", s, u, err)
	}
	done, err = transfer.Import(t.Context(), to, strings.NewReader(file), transfer.ImportOptions{Prefix: "new."})
	if err != nil || done.Written != 0 || done.Same != len(want) {
		t.Errorf("the same import once more = %+v, %v", done, err)
	}
}

// pages lists a store n records at a time.
type pages struct {
	store *memory.Store
	n     int
}

func (p pages) List(ctx context.Context, prefix, cursor string) ([]kv.Write, string, error) {
	page, _, err := p.store.List(ctx, prefix, cursor)
	if err != nil || len(page) <= p.n {
		return page, "", err
	}
	return page[:p.n], page[p.n-1].Key, nil
}

func TestAnExportGoesOnWhereItWasCutOff(t *testing.T) {
	t.Parallel()
	from := memory.New(nil)
	fill(t, from, "", 1)
	put(t, from, kv.Write{Key: "odd.8"}) // it is long
	want := dump(t, from, "")
	file := export(t, pages{from, 3}, "")
	for cut := range len(file) + 1 {
		size, cursor, records, err := transfer.LastPage(strings.NewReader(file[:cut]))
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if cut == len(file) {
			if cursor != "" || records != int64(len(want)) || size != int64(len(file)) {
				t.Errorf("a complete file = %d, %q, %d", size, cursor, records)
			}
			break
		}
		again := bytes.NewBufferString(file[:size])
		if _, err := transfer.Export(t.Context(), pages{from, 3}, again, transfer.ExportOptions{Cursor: cursor, Records: records}); err != nil {
			t.Fatal(err)
		}
		if again.String() != file {
			t.Fatalf("cut at %d, the file ends otherwise:\n%s\nwant\n%s", cut, again, file)
		}
	}
	if _, _, _, err := transfer.LastPage(strings.NewReader("somebody's letter")); !errors.Is(err, transfer.ErrFormat) {
		t.Errorf("another file: %v", err)
	}
}

func TestAnImportGoesOnWhereItWasCutOff(t *testing.T) {
	t.Parallel()
	from := memory.New(nil)
	fill(t, from, "", 2)
	want := dump(t, from, "")
	file := export(t, pages{from, 3}, "")
	lines := strings.SplitAfter(file, "\n")
	broken := errors.New("the disk is gone")
	for cut := range lines {
		to := memory.New(nil)
		head := io.MultiReader(strings.NewReader(strings.Join(lines[:cut], "")), iotest.ErrReader(broken))
		first, err := transfer.Import(t.Context(), to, head, transfer.ImportOptions{})
		if cut > 0 && (!errors.Is(err, broken) || first.Lines != cut-1) {
			t.Fatalf("cut behind line %d: %+v, %v", cut, first, err)
		}
		for _, skip := range []int{first.Lines, 0} {
			done, err := transfer.Import(t.Context(), to, strings.NewReader(file), transfer.ImportOptions{SkipLines: skip})
			if err != nil || !done.Complete && skip < len(lines)-2 || done.Lines != len(lines)-2 {
				t.Fatalf("cut behind line %d, and again behind %d: %+v, %v", cut, skip, done, err)
			}
			wantSame(t, dump(t, to, ""), want)
		}
	}
}

// lossy loses the answer of every other Commit that changes something.
type lossy struct {
	*memory.Store
	calls int
}

var errLost = errors.New("the answer is lost")

func (l *lossy) Commit(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
	ok, err := l.Store.Commit(ctx, checks, writes)
	if ok {
		l.calls++
	}
	if ok && l.calls%2 == 1 {
		return false, errLost
	}
	return ok, err
}

func TestAnImportIsRunAgainAfterALostAnswer(t *testing.T) {
	t.Parallel()
	from, to := memory.New(nil), &lossy{Store: memory.New(nil)}
	fill(t, from, "", 300)
	file := export(t, from, "")
	for {
		_, err := transfer.Import(t.Context(), to, strings.NewReader(file), transfer.ImportOptions{})
		if err == nil {
			break
		}
		if !errors.Is(err, errLost) {
			t.Fatal(err)
		}
	}
	wantSame(t, dump(t, to, ""), dump(t, from, ""))
}

const header = `{"format":"edgeauth-records","version":1}` + "\n"

func TestWhatIsInTheStoreAlready(t *testing.T) {
	t.Parallel()
	const file = header + `{"key":"a","value":1}
{"key":"b","value":2}
{"key":"c","value":3}
`
	tests := []struct {
		existing transfer.Existing
		b        string
		want     transfer.Imported
		line     int
	}{
		{transfer.Refuse, "other", transfer.Imported{}, 3},
		{transfer.Skip, "other", transfer.Imported{Lines: 3, Written: 1, Same: 1, Skipped: 1}, 0},
		{transfer.Overwrite, "2", transfer.Imported{Lines: 3, Written: 2, Same: 1}, 0},
	}
	for _, test := range tests {
		store := memory.New(nil)
		put(t, store, kv.Write{Key: "a", Value: []byte("1")}, kv.Write{Key: "b", Value: []byte("other")})
		got, err := transfer.Import(t.Context(), store, strings.NewReader(file), transfer.ImportOptions{Existing: test.existing})
		there, isThere := errors.AsType[*transfer.ExistsError](err)
		if got != test.want || isThere != (test.line > 0) || isThere && (there.Line != test.line || there.Key != "b") {
			t.Errorf("%q: %+v, %v", test.existing, got, err)
		}
		if entries, _ := store.Get(t.Context(), "b"); string(entries[0].Value) != test.b {
			t.Errorf("%q: b is %q, want %q", test.existing, entries[0].Value, test.b)
		}
	}
	if _, err := transfer.Import(t.Context(), memory.New(nil), strings.NewReader(file), transfer.ImportOptions{Existing: "maybe"}); err == nil {
		t.Error("an Existing that there isn't was taken")
	}
}

// hasty writes a key of its own before each of the first commits.
type hasty struct {
	*memory.Store
	left int
}

func (h *hasty) Commit(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
	if h.left--; h.left >= 0 {
		value := fmt.Appendf(nil, "%d", 100+h.left)
		if ok, err := h.Store.Commit(ctx, nil, []kv.Write{{Key: "a", Value: value}}); !ok || err != nil {
			return ok, err
		}
	}
	return h.Store.Commit(ctx, checks, writes)
}

func TestAnImportBesideAnotherWriter(t *testing.T) {
	t.Parallel()
	const file = header + `{"key":"a","value":1}` + "\n"
	options := transfer.ImportOptions{Existing: transfer.Overwrite}
	for left, want := range map[int]error{3: nil, 1000: transfer.ErrBusy} {
		store := &hasty{memory.New(nil), left}
		done, err := transfer.Import(t.Context(), store, strings.NewReader(file), options)
		if !errors.Is(err, want) || (err == nil) != (done.Written == 1) {
			t.Errorf("with %d writes of somebody else: %+v, %v", left, done, err)
		}
	}
}

func TestARecordThatHasEndedIsLeftOut(t *testing.T) {
	t.Parallel()
	file := header + fmt.Sprintf("{\"key\":\"a\",\"expires\":%d,\"value\":1}\n{\"key\":\"b\",\"expires\":%d,\"value\":1}\n",
		time.Now().Add(-time.Second).UnixMilli(), soon.UnixMilli())
	store := memory.New(func() time.Time { return soon.Add(-24 * time.Hour) })
	done, err := transfer.Import(t.Context(), store, strings.NewReader(file), transfer.ImportOptions{})
	if all := dump(t, store, ""); err != nil || done.Expired != 1 || done.Written != 1 || len(all) != 1 || !all["b"].Expires.Equal(soon) {
		t.Errorf("Import = %+v, %v, and the store has %v", done, err, all)
	}
}

func TestBadLinesAreKeptAndTheRestGoesIn(t *testing.T) {
	t.Parallel()
	bad := []string{
		"hunter2", `{"key":"a","value":`, `{"value":"hunter2"}`, `{"key":"hunter2é","value":1}`, `{"key":"hunter2"}`,
		`{"key":"a","value":"` + strings.Repeat("hunter2", 10_000) + `"}`, `{"key":"hunter2","base64":"?"}`, `[]`,
		`{"key":"a","ref":"hunter2é","value":1}`, `{"key":"long","value":"` + strings.Repeat("hunter2", transfer.MaxLine/7) + `"}`, "",
	}
	var file strings.Builder
	file.WriteString(header)
	for i, text := range bad {
		fmt.Fprintf(&file, "%s\n{\"key\":\"good.%d\",\"value\":1}\r\n", text, i)
	}
	store := memory.New(nil)
	var rejected []transfer.Reject
	done, err := transfer.Import(t.Context(), store, strings.NewReader(file.String()), transfer.ImportOptions{
		Rejected: func(r transfer.Reject) error { rejected = append(rejected, r); return nil },
	})
	if err != nil || done.Rejected != len(bad) || done.Written != len(bad) || len(dump(t, store, "")) != len(bad) {
		t.Errorf("Import = %+v, %v", done, err)
	}
	for i, r := range rejected {
		if r.Line != 2*i+2 || string(r.Text) != bad[i][:min(len(bad[i]), transfer.MaxLine)] || strings.Contains(r.Reason, "hunter2") || r.Reason == "" {
			t.Errorf("rejected: line %d, %.40q, %q", r.Line, r.Text, r.Reason)
		}
	}
	_, err = transfer.Import(t.Context(), memory.New(nil), strings.NewReader(file.String()), transfer.ImportOptions{})
	if first, ok := errors.AsType[*transfer.RejectError](err); !ok || first.Reject.Line != 2 || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("without Rejected: %v", err)
	}
	for _, file := range []string{"", "id,name\n1,Ada\n", `{"format":"edgeauth-records","version":2}`, "{}\n"} {
		if _, err := transfer.Import(t.Context(), store, strings.NewReader(file), transfer.ImportOptions{}); !errors.Is(err, transfer.ErrFormat) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func TestARecordOfAnotherPrefixIsNotExported(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	put(t, store, kv.Write{Key: "a.1", Value: []byte("1"), Ref: "b.1"})
	if n, err := transfer.Export(t.Context(), store, io.Discard, transfer.ExportOptions{Prefix: "a."}); err == nil {
		t.Errorf("%d records, though one refers to what is elsewhere", n)
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"key":"a","ref":"b","expires":4102444800000,"value":{"a":1}}`), []byte(`{"a":1}`))
	f.Add([]byte(`{"next":"a","records":1}`), []byte("null"))
	f.Add([]byte(`{"key":"a","base64":"AA=="}`), []byte("\xff"))
	f.Fuzz(func(t *testing.T, file, value []byte) {
		store := memory.New(nil)
		keep := func(transfer.Reject) error { return nil }
		done, err := transfer.Import(t.Context(), store, io.MultiReader(strings.NewReader(header), bytes.NewReader(file)),
			transfer.ImportOptions{Rejected: keep, Existing: transfer.Overwrite})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(dump(t, store, "")); n > done.Written {
			t.Fatalf("%d records, %+v", n, done)
		}
		if len(value) > 0 && len(value) <= kv.MaxValue {
			put(t, store, kv.Write{Key: "fuzz", Value: value, Ref: "ref", Expires: soon})
		}
		again, text := memory.New(nil), export(t, store, "")
		if _, err := transfer.Import(t.Context(), again, strings.NewReader(text), transfer.ImportOptions{}); err != nil {
			t.Fatal(err)
		}
		if want := dump(t, store, ""); len(want) > 0 {
			wantSame(t, dump(t, again, ""), want)
		}
	})
}

func ExampleExport() {
	ctx := context.Background()
	from, to := memory.New(nil), memory.New(nil)
	kvadapter.New(from, kvadapter.Options{}).CreateUser(ctx, core.User{ID: "1", Email: "ada@example.com"})

	var file bytes.Buffer
	records, err := transfer.Export(ctx, from, &file, transfer.ExportOptions{})
	fmt.Println(records, err)
	done, err := transfer.Import(ctx, to, &file, transfer.ImportOptions{Prefix: "tenant-7."})
	fmt.Println(done.Written, done.Complete, err)

	u, err := kvadapter.New(to, kvadapter.Options{KeyPrefix: "tenant-7."}).GetUserByEmail(ctx, "ada@example.com")
	fmt.Println(u.ID, err)
	// Output:
	// 2 <nil>
	// 2 true <nil>
	// 1 <nil>
}
