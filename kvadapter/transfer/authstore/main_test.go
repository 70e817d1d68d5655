package main

import (
	"bytes"
	"errors"
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/bolt"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
	"github.com/edgeauth/edgeauth/kvadapter/transfer"
)

const token = "0123456789abcdef0123456789abcdef"

// do runs a command line in a folder, where every word that begins with @ is a file.
func do(t *testing.T, folder, line string) (stdout, log string, err error) {
	t.Helper()
	words := strings.Fields(line)
	for i, word := range words {
		if name, ok := strings.CutPrefix(word, "@"); ok {
			words[i] = filepath.Join(folder, name)
		}
	}
	var out, said bytes.Buffer
	err = run(t.Context(), words, strings.NewReader(""), &out, &said)
	return out.String(), said.String(), err
}

func TestFromAuthJSThroughAFileToAWorker(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("users.csv", "id,email,plan\n1,a@example.com,hunter2\n2,a@example.com,hunter2\n")
	write("sessions.csv", "userId,sessionToken,expires\n1,token,2099-01-31 12:00:00+00\n")
	_, log, err := do(t, folder, "authjs -to @auth.db -users @users.csv -sessions @sessions.csv -rejects @rejected")
	if err != nil || !strings.Contains(log, "users, line 3: another user has the address") || !strings.Contains(log, "left out: plan") || strings.Contains(log, "hunter2") {
		t.Fatalf("%v\n%s", err, log)
	}
	kept := filepath.Join(folder, "rejected", "users")
	if text, err := os.ReadFile(kept); err != nil || string(text) != "id,email,plan\n2,a@example.com,hunter2\n" {
		t.Errorf("kept %q, %v", text, err)
	}
	for _, name := range []string{kept, filepath.Join(folder, "auth.db")} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}

	store := memory.New(nil)
	handler, err := transfer.Handler(store, token)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	t.Setenv("AUTH_TRANSFER_TOKEN", token)
	t.Setenv("STORE", server.URL)
	for _, line := range []string{"export -from @auth.db -o @a.ndjson", "import -to env:STORE -i @a.ndjson", "export -from env:STORE -o @b.ndjson", "import -to @b.db -i @b.ndjson"} {
		if _, log, err := do(t, folder, line); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, log)
		}
	}
	if info, err := os.Stat(filepath.Join(folder, "b.ndjson")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("an export: %v, %v", info, err)
	}
	b, err := bolt.Open(filepath.Join(folder, "b.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	for _, s := range []kvadapter.Store{store, b} {
		if _, u, err := kvadapter.New(s, kvadapter.Options{}).GetSessionAndUser(t.Context(), "token"); err != nil || u == nil || u.ID != "1" {
			t.Errorf("the session's user is %v, %v", u, err)
		}
	}

	// A file that was cut off.
	whole, err := os.ReadFile(filepath.Join(folder, "a.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	write("a.ndjson", string(whole[:len(whole)-5]))
	if _, _, err := do(t, folder, "import -to @c.db -i @a.ndjson -rejects @cut"); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("an import of half a file: %v", err)
	}
	if _, _, err := do(t, folder, "export -from @auth.db -o @a.ndjson"); err != nil {
		t.Error(err)
	}
	if again, err := os.ReadFile(filepath.Join(folder, "a.ndjson")); err != nil || !bytes.Equal(again, whole) {
		t.Errorf("the file went on as another one, %v", err)
	}
}

func TestWhatIsRefused(t *testing.T) {
	folder := t.TempDir()
	letter := filepath.Join(folder, "letter")
	if err := os.WriteFile(letter, []byte("Dear Ada"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AUTH_TRANSFER_TOKEN", token)
	for _, line := range []string{
		"", "help", "export", "export -from", "export -from @none.db", "export -from env:NONE", "export -from ftp://localhost/", "export -from http://example.com/transfer",
		"import -to @a.db -i @none", "import -to @a.db -i @letter", "import -to @a.db -existing maybe -i @letter", "authjs -to https://example.com/transfer -users @letter",
		"authjs -to @a.db -users @none", "bookmark -from @a.db", "bookmark -from https://example.com/ -at yesterday", "restore -to @a.db -bookmark 1", "export -from @a.db -o @letter", "export -from @a.db more",
	} {
		if out, log, err := do(t, folder, line); err == nil || line == "" && (!errors.Is(err, flag.ErrHelp) || log != usage) {
			t.Errorf("%q: %q, %q, %v", line, out, log, err)
		}
	}
	if text, err := os.ReadFile(letter); err != nil || string(text) != "Dear Ada" {
		t.Errorf("the letter is %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "none.db")); err == nil {
		t.Error("an export made a store")
	}
}
