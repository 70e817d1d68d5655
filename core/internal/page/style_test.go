package page

import (
	"regexp"
	"strings"
	"testing"
)

// TestContrast measures the pairs of colours that meet on a page (WCAG 2.2, 1.4.3 and 1.4.11).
func TestContrast(t *testing.T) {
	t.Parallel()
	_, light, _ := strings.Cut(styleSheet, ":root {")
	light, _, _ = strings.Cut(light, "}")
	for name, tokens := range map[string]string{"light": light, "dark": dark} {
		value := map[string]string{"white": "#fff", "blue": "#2563eb"}
		for _, m := range regexp.MustCompile(`--(\w[\w-]*): (#\w+)`).FindAllStringSubmatch(tokens, -1) {
			value[m[1]] = m[2]
		}
		for _, c := range []struct {
			front, back string
			least       float64
		}{
			{"text", "card", 4.5}, {"text", "hover", 4.5}, {"muted", "card", 4.5}, {"error", "error-card", 4.5}, {"white", "blue", 4.5},
			{"control", "card", 3}, {"focus", "card", 3}, {"focus", "page", 3},
		} {
			front, ok1 := luminance(value[c.front])
			back, ok2 := luminance(value[c.back])
			if !ok1 || !ok2 {
				t.Fatalf("%s: no colour %s or %s", name, c.front, c.back)
			}
			if got := (max(front, back) + 0.05) / (min(front, back) + 0.05); got < c.least {
				t.Errorf("%s: %s on %s has %.2f, want %.1f", name, c.front, c.back, got, c.least)
			}
		}
	}
}

func TestStyleSheet(t *testing.T) {
	t.Parallel()
	if len(styleSheet) > 6<<10 {
		t.Errorf("%d bytes of style", len(styleSheet))
	}
	for _, s := range []string{"url(", "@import", "<", "http"} {
		if strings.Contains(styleSheet, s) {
			t.Errorf("the style sheet has %q", s)
		}
	}
	if open, closed := strings.Count(styleSheet, "{"), strings.Count(styleSheet, "}"); open != closed {
		t.Errorf("%d open braces, %d closed", open, closed)
	}
}
