package bolt_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/kvadapter/bolt"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

var crashes = flag.Int("crashes", 20, "how often TestKill kills the process")

// fileVariable makes this program the process that TestKill kills. roundVariable is the number
// of its life.
const (
	fileVariable  = "BOLT_TEST_FILE"
	roundVariable = "BOLT_TEST_ROUND"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(fileVariable); path != "" {
		signInAndOut(path, os.Getenv(roundVariable))
	}
	os.Exit(m.Run())
}

// person gives the keys of somebody who signs in.
func person(id string) (keys []string) {
	return []string{"user:" + id, "address:" + id, "account:" + id}
}

// signInAndOut has many people sign in until it is killed, and some of them deleted. It prints
// "+" and the id when somebody is stored, "?" before somebody is deleted, and "-" after it.
func signInAndOut(path, round string) {
	const callers = 16
	store, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		panic(err)
	}
	commit := func(id, value string) {
		var checks []kv.Check
		var writes []kv.Write
		for _, key := range person(id) {
			writes = append(writes, kv.Write{Key: key, Value: []byte(value)})
			if value != "" {
				checks = append(checks, kv.Check{Key: key})
			}
		}
		if ok, err := store.Commit(context.Background(), checks, writes); !ok || err != nil {
			panic(fmt.Sprint(ok, err))
		}
	}
	for caller := range callers {
		go func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%s.%d.%d", round, caller, i)
				commit(id, id)
				fmt.Println("+" + id)
				if i%3 == 0 {
					fmt.Println("?" + id)
					commit(id, "")
					fmt.Println("-" + id)
				}
			}
		}()
	}
	select {}
}

// The process is killed again and again while many commit. Whatever it said had happened has
// happened, as a whole, and nothing has happened by half.
func TestKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	last := map[string]string{} // what was printed last about a person
	for round := range *crashes {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), fileVariable+"="+path, fmt.Sprintf("%s=%d", roundVariable, round))
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for left := 1 + rand.IntN(300); lines.Scan(); left-- { // what is in the pipe when it dies was said, too
			last[lines.Text()[1:]] = lines.Text()[:1]
			if left == 0 {
				_ = child.Process.Kill()
			}
		}
		if err := child.Wait(); err == nil || child.ProcessState.Exited() {
			t.Fatalf("the process was not killed but ended: %v", err)
		}
		check(t, path, last)
	}
	there := 0
	for _, said := range last {
		if said == "+" {
			there++
		}
	}
	if there < *crashes || len(last) == there {
		t.Errorf("%d people were stored and %d of them deleted: too few to prove anything", len(last), len(last)-there)
	}
	t.Logf("%d people in %d lives of the process, %d of them there at the end", len(last), *crashes, there)
}

func check(t *testing.T, path string, last map[string]string) {
	store, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	stored := map[string]int{} // how many keys there are of a person
	for cursor := ""; ; {
		page, next, err := store.List(t.Context(), "", cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range page {
			_, id, _ := strings.Cut(w.Key, ":")
			if string(w.Value) != id {
				t.Errorf("%s has the value %q", w.Key, w.Value)
			}
			stored[id]++
		}
		if cursor = next; next == "" {
			break
		}
	}
	for id, n := range stored {
		if n != len(person(id)) {
			t.Errorf("%d of the %d keys of %s are stored", n, len(person(id)), id)
		}
	}
	for id, said := range last {
		if said == "+" && stored[id] == 0 || said == "-" && stored[id] > 0 {
			t.Errorf("%d keys of %s are stored after the process had said %q", stored[id], id, said)
		}
	}
}
