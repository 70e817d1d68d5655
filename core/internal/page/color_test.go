package page

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestIsColor(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"#0ea5e9", "#FFF", "#12345678", "tomato", "rgb(1, 2, 3)", "rgb(1 2 3 / 50%)", "hsl(120deg 100% -0.5%)", "oklch(60% .2 20)",
		"color-mix(in srgb, rgb(1 2 3), white 20%)"} {
		if !isColor(s) {
			t.Errorf("%q is none", s)
		}
	}
	for _, s := range []string{"", "red;", "red}", "red}*{color:red", "</style>", "rgb(", "rgb)", ")(", "red/*", "var(--x", "url(https://x)", "'red'", `"`, `\72 ed`,
		"red!important", "red\n", "röt", "expression(alert(1));", "@import", "$"} {
		if isColor(s) {
			t.Errorf("%q is one", s)
		}
	}
}

// TestTextOn measures the contrast on every 3-digit colour and on the boundary between black and white.
func TestTextOn(t *testing.T) {
	t.Parallel()
	var colors []string
	for i := range 0x1000 {
		colors = append(colors, fmt.Sprintf("#%03x", i), fmt.Sprintf("#%06X", i*i))
	}
	for i := 0x60; i < 0x90; i++ {
		colors = append(colors, fmt.Sprintf("#%02x%02x%02x", i, i, i), fmt.Sprintf("#00%02x%02x", i, i))
	}
	for _, color := range colors {
		background := exactLuminance(t, color)
		var contrast float64
		switch text := textOn(color); text {
		case "#fff":
			contrast = 1.05 / (background + 0.05)
		case "#000":
			contrast = (background + 0.05) / 0.05
		default:
			t.Fatalf("%s gives %q", color, text)
		}
		if contrast < 4.5 {
			t.Errorf("the contrast on %s is %.3f", color, contrast)
		}
		if got, _ := luminance(color); math.Abs(got-background) > 1e-6 {
			t.Errorf("the luminance of %s is %v, want %v", color, got, background)
		}
	}
	for _, color := range []string{"", "#", "#12", "#1234", "#12345", "#1234567", "#ggg", "#+12", "#0x1", "#1_2", "fff", "white", "rgb(0,0,0)", "#ééé"} {
		if got := textOn(color); got != "" {
			t.Errorf("%q gives %q: it can't be measured", color, got)
		}
	}
}

func exactLuminance(t *testing.T, color string) float64 {
	t.Helper()
	var rgb [3]int
	format := "#%02x%02x%02x"
	if len(color) == 4 {
		format = "#%1x%1x%1x"
	}
	if _, err := fmt.Sscanf(strings.ToLower(color), format, &rgb[0], &rgb[1], &rgb[2]); err != nil {
		t.Fatal(color, err)
	}
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(rgb[i]) / 255
		if len(color) == 4 {
			c = float64(rgb[i]) / 15
		}
		if c <= 0.04045 {
			sum += weight * c / 12.92
		} else {
			sum += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return sum
}

func TestThemeColors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, brand, text, want string }{
		{"none", "", "", ""},
		{"dark", "#123456", "", ":root{--brand-color: #123456}.primary{background:#123456}.primary{color:#fff}"},
		{"light", "#fe0", "", ":root{--brand-color: #fe0}.primary{background:#fe0}.primary{color:#000}"},
		{"text chosen", "#fe0", "navy", ":root{--brand-color: #fe0}.primary{background:#fe0}.primary{color:navy}"},
		{"not measurable", "tomato", "", ":root{--brand-color: tomato}"},
		{"not measurable, text chosen", "tomato", "black", ":root{--brand-color: tomato}.primary{background:tomato}.primary{color:black}"},
		{"text alone", "", "white", ".primary{color:white}"},
		{"hostile", "red}", "</style>", ""},
		{"one hostile", "red}", "white", ".primary{color:white}"},
	} {
		if got := (Theme{BrandColor: c.brand, ButtonText: c.text}).valid().style(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
