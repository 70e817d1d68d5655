package core_test

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/edgeauth/edgeauth"

// goList runs go list for a target and gives its lines. It needs no network: the packages it
// asks about are those of this build.
func goList(t *testing.T, target string, args ...string) []string {
	t.Helper()
	goos, goarch, _ := strings.Cut(target, "/")
	cmd := exec.Command("go", append([]string{"list", "-e", "-tags", "nethttpomithttp2"}, args...)...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "GOFLAGS=-mod=readonly")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// What is linked into the worker decides how long a fresh isolate takes: the packages that
// weigh hundreds of kilobytes must not come back by accident.
func TestImportWeight(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"js/wasm", "wasip1/wasm"} {
		deps := goList(t, target, "-deps", "./core")
		if !slices.Contains(deps, "net/http") {
			t.Fatalf("%s: go list gave %d lines, none of them net/http", target, len(deps))
		}
		for _, heavy := range []string{"html/template", "text/template", "regexp", "encoding/gob", "database/sql", "os/exec", "go/ast", "encoding/xml"} {
			if slices.Contains(deps, heavy) {
				t.Errorf("%s: core links %s", target, heavy)
			}
		}
		// crypto/tls is there because net/http names it; core must not add a reason of its own.
		for _, line := range goList(t, target, "-deps", "-f", `{{if not .Standard}}{{.ImportPath}} {{join .Imports " "}}{{end}}`, "./core") {
			if imports := strings.Fields(line); len(imports) > 0 && slices.Contains(imports[1:], "crypto/tls") {
				t.Errorf("%s: %s imports crypto/tls", target, imports[0])
			}
		}
	}
}

// Who may import what.
func TestArrows(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"linux/amd64", "js/wasm", "wasip1/wasm"} {
		seen := 0
		for _, line := range goList(t, target, "-f", `{{.ImportPath}} {{.Name}} {{join .Imports " "}}`, "./...") {
			fields := strings.Fields(line)
			if len(fields) < 2 || fields[1] == "main" || under(folder(fields[0]), "edge/examples") {
				continue // they meet in programs
			}
			seen++
			from := folder(fields[0])
			for _, path := range fields[2:] {
				if why := forbidden(from, path); why != "" {
					t.Errorf("%s: %s imports %s: %s", target, from, path, why)
				}
			}
		}
		if seen < 5 {
			t.Errorf("%s: only %d packages were looked at", target, seen)
		}
	}
}

func folder(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, module), "/") }

// under reports whether a folder is another one or is inside of it.
func under(folder, parent string) bool {
	return folder == parent || strings.HasPrefix(folder, parent+"/")
}

// forbidden says what is wrong with an import, if anything is.
func forbidden(from, path string) string {
	if path == "syscall/js" && !under(from, "edge") {
		return "syscall/js is for edge"
	}
	if strings.HasPrefix(path, "github.com/tetratelabs/wazero") && !under(from, "wasmtest") {
		return "wazero is for wasmtest"
	}
	if path != module && !strings.HasPrefix(path, module+"/") {
		return ""
	}
	to := folder(path)
	isStore := func(folder string) bool {
		return slices.ContainsFunc([]string{"memory", "bolt", "redis", "postgres"}, func(name string) bool { return under(folder, "kvadapter/"+name) })
	}
	outer := func(folder string) bool {
		return under(folder, "edge") || under(folder, "wasmtest") || under(folder, "kvadapter")
	}
	switch {
	case from == "kvadapter/kv":
		return "kvadapter/kv is a leaf"
	case to == "kvadapter/kv" && !under(from, "core"):
		return "" // what a store is
	case from == "edge/abi":
		return "edge/abi knows what a store is, and no more"
	case isStore(from) && !under(to, from):
		return "a store knows what a store is, and no more"
	case isStore(to) && !under(from, "core"):
		return ""
	case under(from, "core/internal") && !under(to, "core/internal"):
		return "core/internal imports nothing of core"
	case from == "core/client":
		return "core/client is a leaf"
	case from == "core" && !under(to, "core/internal") && to != "core/client":
		return "core imports nothing of the module but core/internal and core/client"
	case under(from, "core") && outer(to):
		return "core and what is made for it know no platform and no store"
	case under(from, "kvadapter") && (under(to, "edge") || under(to, "wasmtest")):
		return "stores know no platform"
	case under(from, "edge") && !under(to, "edge"):
		return "edge knows nothing of the rest"
	case under(from, "wasmtest") && !under(to, "wasmtest") && to != "edge/abi":
		return "wasmtest knows the ABI only"
	}
	return ""
}
