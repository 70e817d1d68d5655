package page

import (
	"go/ast"
	"go/parser"
	"go/token"
	"html/template"
	"io/fs"
	"os"
	"strings"
	"testing"
)

var (
	textTemplate = template.Must(template.New("").Parse(`<p>{{.}}</p>`))
	attrTemplate = template.Must(template.New("").Parse(`<p title="{{.}}">`))
	urlTemplate  = template.Must(template.New("").Parse(`<a href="{{.}}">`))
)

func execute(t *testing.T, tmpl *template.Template, s string) string {
	t.Helper()
	var b strings.Builder
	if err := tmpl.Execute(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// FuzzText compares our escaping with html/template's, which escapes "+" too (for UTF-7) and leaves a carriage return alone.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", `<>&"'`, "a\x00b", "\r\n", "ü😀", "\xff", "&amp;", "+ADw-", "$"} {
		f.Add(s)
	}
	theirs := strings.NewReplacer("&#43;", "+", "\r", "&#13;")
	f.Fuzz(func(t *testing.T, s string) {
		var text, attr writer
		text.html(`<p>$</p>`, s)
		attr.html(`<p title="$">`, s)
		if got, want := string(text.b), theirs.Replace(execute(t, textTemplate, s)); got != want {
			t.Errorf("text %q is %q, want %q", s, got, want)
		}
		if got, want := string(attr.b), theirs.Replace(execute(t, attrTemplate, s)); got != want {
			t.Errorf("attribute %q is %q, want %q", s, got, want)
		}
	})
}

// FuzzURL: what html/template refuses to link to, so do we, and mailto besides.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"", "/x", "https://x", "HTTPS://x", "http:x", "javascript:x", "java\nscript:x", " https://x", "mailto:x", "x:y", "/x:y", "?x:y", "#x:y", "x?y:z", "ſ:x", "ftp:/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		refused := webURL(s) == "#" && s != "#"
		before, _, _ := strings.Cut(s, ":")
		switch {
		case strings.ContainsAny(before, "?#"), strings.HasPrefix(s, ":"):
			return // relative, which html/template doesn't see
		case strings.EqualFold(before, "mailto"):
			return
		}
		if want := strings.Contains(execute(t, urlTemplate, s), "#ZgotmplZ"); refused != want {
			t.Errorf("%q: refused is %v, html/template's is %v", s, refused, want)
		}
	})
}

// TestMarkupIsConstant sees to it that no text from outside is written as it is: out of writer.go nothing is converted to markup,
// and nothing but html writes.
func TestMarkupIsConstant(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	names, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		if name == "writer.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "markup" {
					t.Errorf("%s: text becomes markup", files.Position(n.Pos()))
				}
			case *ast.SelectorExpr:
				if n.Sel.Name == "add" {
					t.Errorf("%s: text is written as it is", files.Position(n.Pos()))
				}
			}
			return true
		})
	}
}

// TestPlaceholders: markup has as many "$" as values, and is not run out of by a value that has some.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	var w writer
	w.html(`<a>$</a><b>$</b>`, "$", "1 $ 2")
	if got, want := string(w.b), `<a>$</a><b>1 $ 2</b>`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
