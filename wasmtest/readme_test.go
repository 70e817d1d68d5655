package wasmtest_test

import (
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme builds the README's program and holds its answers against the README's
// transcript.
func TestReadme(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(raw)
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte(block(t, readme, "go")), 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("the program does not build: %v\n%s", err, out)
	}
	addr := freeAddr(t)
	start(t, []string{
		"ADDR=" + addr, "AUTH_SECRET=" + strings.Repeat("not-a-secret-", 3),
		"AUTH_MY_IDP_ID=id", "AUTH_MY_IDP_SECRET=secret",
	}, program)

	asked := 0
	for exchange := range strings.SplitSeq(block(t, readme, "console"), "$ curl ") {
		command, want, ok := strings.Cut(strings.TrimSpace(exchange), "\n")
		if !ok {
			continue
		}
		asked++
		got := strings.ReplaceAll(curl(t, addr, strings.Fields(command)), addr, "localhost:8787")
		for line := range strings.Lines(want) {
			if line = strings.TrimSpace(line); !strings.Contains(got, line) {
				t.Errorf("curl %s\nanswered\n%s\nwithout\n%s", command, got, line)
			}
		}
	}
	if asked == 0 {
		t.Error("the README has no transcript")
	}
}

// block gives the first fenced block of a language.
func block(t *testing.T, text, language string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n```"+language+"\n")
	code, _, closed := strings.Cut(rest, "\n```\n")
	if !ok || !closed {
		t.Fatalf("the README has no %s block", language)
	}
	return code
}

// curl does what the command of that name does with the few flags of the transcript.
func curl(t *testing.T, addr string, args []string) string {
	t.Helper()
	method, path := http.MethodGet, ""
	for i, arg := range args {
		switch {
		case arg == "-X":
			method = args[i+1]
		case strings.HasPrefix(arg, "localhost:8787"):
			path = strings.TrimPrefix(arg, "localhost:8787")
		}
	}
	r, err := http.NewRequest(method, "http://"+addr+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var out strings.Builder
	out.WriteString(resp.Proto + " " + resp.Status + "\n")
	_ = resp.Header.Write(&out)
	_, _ = io.Copy(&out, resp.Body)
	return out.String()
}

// TestTestingGuide runs the test of TESTING.md, which the package comment has as well, as somebody's own.
func TestTestingGuide(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("TESTING.md")
	if err != nil {
		t.Fatal(err)
	}
	code := block(t, string(raw), "go")
	comment, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	indented := strings.ReplaceAll("//\t"+strings.ReplaceAll(code, "\n", "\n//\t"), "//\t\n", "//\n")
	if !strings.Contains(string(comment), "\n"+indented+"\n") {
		t.Error("the package comment has another test than TESTING.md")
	}
	folder, err := os.MkdirTemp("testdata", "guide") // inside of the module, which has what it imports
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.WriteFile(filepath.Join(folder, "app_test.go"), []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "test", "-v", "./"+folder).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestPeopleSignIn") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestLinks follows the links of every page to files of the project.
func TestLinks(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	pages, links := 0, 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && path != ".." && (name == "node_modules" || name == "build" || name == "bin" || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		pages++
		text, err := os.ReadFile(path)
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			if to := found[1]; !strings.Contains(to, "://") {
				links++
				if _, err := os.Stat(filepath.Join(filepath.Dir(path), to)); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
		}
		return err
	})
	if err != nil || pages < 5 || links < 20 {
		t.Errorf("%d pages with %d links: %v", pages, links, err)
	}
}
