package bolt_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/kvadapter/bolt"
	"github.com/edgeauth/edgeauth/kvadapter/internal/crashtest"
)

// signInVariable makes TestSignInUntilKilled the process that TestKilledSignIns kills.
const signInVariable = "BOLT_TEST_SIGN_IN"

// TestSignInUntilKilled prints each event and its session, when it is the process.
func TestSignInUntilKilled(t *testing.T) {
	path, name, _ := strings.Cut(os.Getenv(signInVariable), "#")
	if path == "" {
		t.Skip("a part of TestKilledSignIns")
	}
	store, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tell := func(session string, e crashtest.Event) bool {
		fmt.Printf("%s%s\n", e, session)
		return true
	}
	for i := range 32 {
		go crashtest.SignIn(context.Background(), store, fmt.Sprint(name, ".", i), tell, func(err error) { panic(err) })
	}
	select {}
}

// The process is killed until 500 sign-ins were interrupted by it: nobody is locked out, no answered
// sign-in is lost, and no session that has ended is back.
func TestKilledSignIns(t *testing.T) {
	t.Parallel()
	const wanted = 500
	path := filepath.Join(t.TempDir(), "store")
	last, interrupted, lives := map[string]crashtest.Event{}, 0, 0
	for ; interrupted < wanted; lives++ {
		child := exec.Command(os.Args[0], "-test.run=^TestSignInUntilKilled$")
		child.Env = append(os.Environ(), fmt.Sprintf("%s=%s#%d", signInVariable, path, lives))
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		seen := map[string]crashtest.Event{}
		lines := bufio.NewScanner(out)
		for left := 40 + rand.IntN(100); lines.Scan(); left-- { // what is in the pipe when it dies was said, too
			if line := lines.Text(); line != "" && strings.Contains("?+!-", line[:1]) {
				seen[line[1:]] = crashtest.Event(line[:1])
			}
			if left == 0 {
				_ = child.Process.Kill()
			}
		}
		if err := child.Wait(); err == nil || child.ProcessState.Exited() {
			t.Fatalf("the process was not killed but ended: %v", err)
		}
		for session, e := range seen {
			if last[session] = e; e == crashtest.Begins {
				interrupted++
			}
		}
	}
	t.Logf("%d sign-ins in %d lives of the process, %d of them interrupted", len(last), lives, interrupted)
	store := fast(t, path)
	if err := crashtest.Verify(t.Context(), store, last); err != nil {
		t.Error(err)
	}
}
