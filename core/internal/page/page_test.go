package page_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/edgeauth/edgeauth/core/internal/page"
)

// summary is what a page says and which forms it has, in the terms of testdata/reference.mjs.
type summary struct {
	Doctype    bool
	Lang       string
	Charset    bool
	Viewport   bool
	Title      string
	BodyClass  string
	BrandColor *string
	Headings   []string
	Errors     []string
	Paragraphs []string
	Links      []link
	Rules      int
	Forms      []form
}

type link struct{ Href, Text string }

type form struct {
	Action, Method string
	Labels         []string
	Inputs         []input
	Buttons        []string
}

type input struct {
	Name, Type             string
	Value, ID, Placeholder *string
	Required               bool
}

// TestReference holds our pages against those of @auth/core.
func TestReference(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name    string
		Page    string
		In      json.RawMessage
		Status  int
		Summary summary
	}
	decode(t, file, &cases)
	if len(cases) < 40 {
		t.Fatalf("%d cases: the vectors are missing", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			html, status := render(t, c.Page, c.In)
			if status != c.Status {
				t.Errorf("status %d, want %d", status, c.Status)
			}
			got, _ := json.MarshalIndent(summarise(t, html), "", " ")
			want, _ := json.MarshalIndent(c.Summary, "", " ")
			if !bytes.Equal(got, want) {
				t.Errorf("the page is\n%s\nand the reference's\n%s", got, want)
			}
		})
	}
}

func render(t *testing.T, name string, in []byte) (html []byte, status int) {
	t.Helper()
	switch name {
	case "signin":
		var p page.SignIn
		decode(t, in, &p)
		return p.HTML(), 200
	case "signout":
		var p page.SignOut
		decode(t, in, &p)
		return p.HTML(), 200
	case "verify-request":
		var p page.VerifyRequest
		decode(t, in, &p)
		return p.HTML(), 200
	case "error":
		var p page.Error
		decode(t, in, &p)
		return p.HTML(), p.Status()
	}
	t.Fatalf("no page %q", name)
	return nil, 0
}

func decode(t *testing.T, data []byte, to any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		t.Fatal(err)
	}
}

// An element of a page, with the text in it.
type element struct {
	xml.StartElement
	path []string // the elements around it, as "name" or "name.class"
	text string
}

func (e *element) attr(name string) *string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return &a.Value
		}
	}
	return nil
}

func (e *element) value(name string) string {
	if v := e.attr(name); v != nil {
		return *v
	}
	return ""
}

// elements reads a page as XML, which it is but for the attributes and elements that HTML lets stand alone; an open or crossed
// element fails the test.
func elements(t *testing.T, html []byte) []*element {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(html))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var all, open []*element
	for {
		token, err := d.Token()
		if err == io.EOF {
			if len(open) > 0 {
				t.Errorf("<%s> is not closed", open[len(open)-1].Name.Local)
			}
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{StartElement: token.Copy()}
			for _, outer := range open {
				e.path = append(e.path, strings.TrimSuffix(outer.Name.Local+"."+outer.value("class"), "."))
			}
			all, open = append(all, e), append(open, e)
		case xml.EndElement:
			if open[len(open)-1].Name != token.Name {
				t.Fatalf("<%s> ends in </%s>", open[len(open)-1].Name.Local, token.Name.Local)
			}
			open = open[:len(open)-1]
		case xml.CharData:
			for _, e := range open {
				e.text += string(token)
			}
		}
	}
}

func summarise(t *testing.T, html []byte) summary {
	t.Helper()
	s := summary{
		Doctype:  bytes.HasPrefix(html, []byte("<!DOCTYPE html>")),
		Headings: []string{}, Errors: []string{}, Paragraphs: []string{}, Links: []link{}, Forms: []form{},
	}
	for _, e := range elements(t, html) {
		text := strings.Join(strings.Fields(e.text), " ")
		var in *form
		if slices.Contains(e.path, "form") {
			in = &s.Forms[len(s.Forms)-1]
		}
		switch e.Name.Local {
		case "html":
			s.Lang = e.value("lang")
		case "meta":
			s.Charset = s.Charset || e.value("charset") == "UTF-8"
			s.Viewport = s.Viewport || e.value("name") == "viewport"
		case "title":
			s.Title = text
		case "body":
			s.BodyClass = e.value("class")
		case "style":
			if _, color, found := strings.Cut(text, "--brand-color: "); found && slices.ContainsFunc(e.path, isBody) {
				color = strings.FieldsFunc(color, func(r rune) bool { return strings.ContainsRune("; }", r) })[0]
				s.BrandColor = &color
			}
		case "h1", "h2", "h3", "h4", "h5", "h6":
			s.Headings = append(s.Headings, text)
		case "p":
			s.Paragraphs = append(s.Paragraphs, text)
			if e.path[len(e.path)-1] == "div.error" {
				s.Errors = append(s.Errors, text)
			}
		case "a":
			s.Links = append(s.Links, link{e.value("href"), text})
		case "hr":
			s.Rules++
		case "form":
			s.Forms = append(s.Forms, form{Action: e.value("action"), Method: e.value("method"), Labels: []string{}, Inputs: []input{}})
		case "label":
			in.Labels = append(in.Labels, text)
		case "input":
			in.Inputs = append(in.Inputs, input{
				Name: e.value("name"), Type: e.value("type"), Value: e.attr("value"), ID: e.attr("id"),
				Placeholder: e.attr("placeholder"), Required: e.attr("required") != nil,
			})
		case "button":
			in.Buttons = append(in.Buttons, text)
		case "img":
			if e.value("class") != "logo" {
				t.Errorf("an image that is not the logo: %s", e.value("src"))
			}
		case "script", "iframe", "link", "object", "embed", "base":
			t.Errorf("the page has a <%s>", e.Name.Local)
		}
	}
	return s
}

func isBody(element string) bool { return strings.HasPrefix(element, "body.") }
