//go:build !js && !wasip1

package faults_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutable are the package variables of core, kvadapter and edge that may change, or that this
// test can't tell from such, and why none of them carries something from one request to another.
var mutable = map[string]string{
	"edge/edge_native.go background":               "counts what WaitUntil has left to do, for the end of the process",
	"edge/edge_wasip1.go started":                  "set once, before the first request",
	"edge/edge_wasip1.go serving":                  "the program's handler, set once",
	"edge/edge_wasip1.go served":                   "hands over the handler, once",
	"edge/internal/jsx/bridge_js.go Host":          "the host's charset, set once",
	"edge/internal/jsx/bridge_js.go server":        "the program's handler, and the requests under way by their number",
	"edge/store_native.go stores":                  "the open files by their path",
	"kvadapter/redis/redis.go commit":              "a script and its hash",
	"kvadapter/redis/redis.go get":                 "a script and its hash",
	"kvadapter/redis/redis.go list":                "a script and its hash",
	"kvadapter/transfer/handler.go errNoBookmarks": "an error with its status",
	"kvadapter/transfer/handler.go errNoList":      "an error with its status",
	"kvadapter/bolt/bolt.go bucket":                "a name, which only bbolt gets",
	"core/internal/weburl/query.go plain":          "a table of bytes, made as the program starts",
	"core/internal/jwe/jwe.go b64":                 "an encoding, which has no state",
	"edge/edge_js.go Transport":                    "the platform's fetch; an app may put its own there before it serves",
	"edge/edge_native.go Transport":                "likewise",
	"edge/transport_wasip1.go Transport":           "likewise",
}

// constant are the calls whose result never changes.
var constant = []string{
	"errors.New", "fmt.Errorf", "fail", "strings.NewReplacer", "strings.Repeat", "time.Date", "sync.OnceValue", "sync.OnceValues",
}

// Request data is in contexts only: what outlives a request is named above.
func TestE7NoPackageVariableKeepsRequestData(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	packages := map[string][]string{} // files by folder
	for _, top := range []string{"core", "kvadapter", "edge"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				switch d.Name() { // tests, and programs that aren't sites
				case "testdata", "node_modules", "examples", "bench", "faults", "adaptertest", "storetest", "flowtest", "crashtest", "passkeytest", "routers", "oracle":
					return filepath.SkipDir
				}
				return nil
			}
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]string{}
	for _, files := range packages {
		variables(t, root, files, found)
	}
	if len(found) == 0 {
		t.Fatal("no package variable was found to be mutable: this test sees nothing")
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if mutable[name] == "" {
			t.Errorf("%s %s: put what belongs to a request into its context, or say in this test why it doesn't", name, found[name])
		}
	}
	for name := range mutable {
		if found[name] == "" {
			t.Errorf("%s is no mutable package variable any more", name)
		}
	}
}

// variables adds those of a package that can change, with what shows it.
func variables(t *testing.T, root string, files []string, found map[string]string) {
	set := token.NewFileSet()
	var parsed []*ast.File
	top := map[any]bool{}      // the declarations
	own := map[string]string{} // where each variable is, by name; targets may have one each
	for _, path := range files {
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				spec := spec.(*ast.ValueSpec)
				top[spec] = true
				for i, ident := range spec.Names {
					if ident.Name == "_" {
						continue
					}
					rel, _ := filepath.Rel(root, path)
					name := filepath.ToSlash(rel) + " " + ident.Name
					own[ident.Name] = name
					var value ast.Expr
					if i < len(spec.Values) {
						value = spec.Values[i]
					}
					if why := changes(spec.Type, value); why != "" {
						found[name] = why
					}
				}
			}
		}
	}
	for _, file := range parsed {
		ast.Inspect(file, func(n ast.Node) bool {
			var targets []ast.Expr
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					targets = n.Lhs
				}
			case *ast.IncDecStmt:
				targets = []ast.Expr{n.X}
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					targets = []ast.Expr{n.X}
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "delete" || f.Name == "clear") {
					targets = n.Args[:1]
				}
			}
			for _, target := range targets {
				if ident := base(target); ident != nil && own[ident.Name] != "" && !isLocal(ident, top) {
					found[own[ident.Name]] = fmt.Sprintf("is written at %s", set.Position(ident.Pos()))
				}
			}
			return true
		})
	}
}

// changes says what about a variable's declaration lets it change, or nothing.
func changes(kind, value ast.Expr) string {
	if kind != nil {
		switch kind := kind.(type) {
		case *ast.MapType, *ast.ChanType, *ast.StructType, *ast.StarExpr, *ast.InterfaceType:
			return "has a mutable type"
		case *ast.SelectorExpr:
			if pkg, ok := kind.X.(*ast.Ident); ok && (pkg.Name == "sync" || pkg.Name == "atomic" || pkg.Name == "http") {
				return "has a mutable type"
			}
		}
	}
	switch value := value.(type) {
	case *ast.CallExpr:
		text := ""
		switch f := value.Fun.(type) {
		case *ast.Ident:
			text = f.Name
		case *ast.SelectorExpr:
			if pkg, ok := f.X.(*ast.Ident); ok {
				text = pkg.Name + "." + f.Sel.Name
			}
		}
		if !slices.Contains(constant, text) {
			return "is made by a call"
		}
	case *ast.UnaryExpr:
		return "is a pointer"
	case *ast.CompositeLit:
		if _, isMap := value.Type.(*ast.MapType); isMap {
			return "is a map"
		}
	}
	return ""
}

// base is the variable that an expression selects or indexes.
func base(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// isLocal reports whether an identifier is declared inside a function. The parser resolves
// those; package variables of other files it doesn't.
func isLocal(ident *ast.Ident, top map[any]bool) bool {
	return ident.Obj != nil && !top[ident.Obj.Decl]
}
