package client_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/edgeauth/edgeauth/core/client"
)

// maxSize is the most that the module may weigh after gzip -9, comments included: every page of
// an app loads it.
const maxSize = 4000

func TestSize(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(client.Module())); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("client.mjs: %d bytes, %d after gzip -9", len(client.Module()), out.Len())
	if out.Len() > maxSize {
		t.Errorf("client.mjs weighs %d bytes after gzip -9, %d more than it may", out.Len(), out.Len()-maxSize)
	}
}

var (
	moduleExport = regexp.MustCompile(`(?m)^export (?:async )?(?:function|class|const|let) (\w+)`)
	typesExport  = regexp.MustCompile(`(?m)^export (?:function|class|const) (\w+)`)
)

// names are what a pattern finds, each once, in order.
func names(pattern *regexp.Regexp, text string) []string {
	var out []string
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		out = append(out, match[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// The declarations name what the module exports, no more and no less, and the module has no
// other way to export.
func TestTypesNameTheExports(t *testing.T) {
	t.Parallel()
	module, types := names(moduleExport, client.Module()), names(typesExport, client.Types())
	if len(module) < 8 || !slices.Equal(module, types) {
		t.Errorf("the module exports\n%v, the declarations name\n%v", module, types)
	}
	got, all := len(moduleExport.FindAllString(client.Module(), -1)), len(regexp.MustCompile(`(?m)^\s*export\b`).FindAllString(client.Module(), -1))
	if got != all {
		t.Errorf("%d of %d exports are understood by this test", got, all)
	}
}

// What a strict Content-Security-Policy or Trusted Types would refuse is not even there, and
// nothing comes from elsewhere. The browser's own verdict is in TestBrowser.
func TestModuleIsPlain(t *testing.T) {
	t.Parallel()
	if !utf8.ValidString(client.Module()) || !utf8.ValidString(client.Types()) {
		t.Error("not UTF-8")
	}
	code := regexp.MustCompile(`(?m)(^|\s)//.*$`).ReplaceAllString(client.Module(), "")
	for _, word := range []string{
		"eval", "Function(", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "createContextualFragment", "DOMParser",
		"import ", "import(", "require(", "<style", ".style", `"style"`, "http:", "https:", "console.", "localStorage",
	} {
		if strings.Contains(code, word) {
			t.Errorf("the module contains %q", word)
		}
	}
}

// Importing the module where there is no document, as a server that renders pages does, does
// nothing: no error, and nothing that keeps the process from ending.
func TestImportWithoutDocument(t *testing.T) {
	t.Parallel()
	node := needNode(t)
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "--eval",
		`console.log(JSON.stringify(Object.keys(await import(process.argv[1])).sort()))`, absolute(t, "client.mjs"))
	out, err := cmd.CombinedOutput()
	var exports []string
	if err != nil || json.Unmarshal(out, &exports) != nil {
		t.Fatalf("node: %v\n%s", err, out)
	}
	if want := names(typesExport, client.Types()); !slices.Equal(exports, want) {
		t.Errorf("the module exports %v, want %v", exports, want)
	}
}

// A typed app compiles, and its mistakes don't. TypeScript is used if it is among the tools of
// edge/worker; the names are compared in any case.
func TestTypes(t *testing.T) {
	t.Parallel()
	node := needNode(t)
	tsc := filepath.Join(tools, "node_modules", "typescript", "bin", "tsc")
	if path := os.Getenv("TSC"); path != "" {
		tsc = path
	}
	if _, err := os.Stat(tsc); err != nil {
		t.Skip("TypeScript is not among the tools of edge/worker; set TSC to the path of tsc")
	}
	if out, err := exec.CommandContext(t.Context(), node, tsc, "-p", "testdata").CombinedOutput(); err != nil {
		t.Errorf("tsc: %v\n%s", err, out)
	}
}

// tools is the folder of the tools that tests use.
const tools = "../../edge/worker"

// need skips a test that lacks a tool, or fails it where nothing may be left out.
func need(t *testing.T, ok bool, what, how string) {
	t.Helper()
	if ok {
		return
	}
	if os.Getenv("CI_STRICT") == "1" {
		t.Fatalf("%s is missing: %s", what, how)
	}
	t.Skipf("%s is missing: %s", what, how)
}

func needNode(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	need(t, err == nil, "node", "install Node 20 or later")
	return node
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
