//go:build !js && !wasip1

package main

import (
	"fmt"
	"html"
	"strings"
)

const chartTitle = "How edgeauth compares on workerd"

// A chart is drawn from top to bottom.
type chart struct {
	svg strings.Builder
	y   int
}

// Where things are, in pixels: names end at left, bars begin there and are at most wide, and their values
// stand behind the longest one.
const (
	chartWidth = 760
	left       = 290
	wide       = 380
	barHeight  = 18
)

// chart is results.svg: text and rectangles, in the colours of the reader's scheme.
func (r result) chart() string {
	c := &chart{y: 20}
	n := r.middle()
	r.chartRatios(c, n)
	r.chartRates(c, n)
	r.chartStarts(c)
	return fmt.Sprintf(chartFrame, chartWidth, c.y, html.EscapeString(chartTitle), html.EscapeString(strings.ReplaceAll(strings.Join(r.headlines(), " "), "`", "")),
		c.svg.String(), c.y-12, html.EscapeString(r.Date+". "+r.Machine.CPU+fmt.Sprintf(", %d cores", r.Machine.Cores)))
}

const chartFrame = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title desc">
<title id="title">%s</title>
<desc id="desc">%s</desc>
<style>
svg { background: #fff; font: 13px system-ui, sans-serif }
text { fill: #1f2937 }
.head { font-weight: 600; font-size: 15px }
.name { text-anchor: end }
.note { fill: #57606a; font-size: 12px }
.own { fill: #0b6bcb }
.other { fill: #8c96a3 }
.mark { stroke: #1f2937; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
svg { background: #0d1117 }
text { fill: #e6edf3 }
.note { fill: #9aa5b1 }
.own { fill: #4ba3ff }
.other { fill: #6b7684 }
.mark { stroke: #e6edf3 }
}
</style>
%s<text class="note" x="12" y="%d">%s</text>
</svg>
`

// chartRatios shows ours in units of @auth/core's, for each work.
func (r result) chartRatios(c *chart, n int) {
	var bars []bar
	for _, w := range works {
		own, other := r.find(w.name, n, ours), r.find(w.name, n, authcore)
		if own == nil || other == nil {
			continue
		}
		times := ratio(own.Rounds, other.Rounds, rate)
		bars = append(bars, bar{name: w.title, value: times.median, label: factor(times.median) + " ×", own: true})
	}
	c.bars("Requests a second on workerd, in units of @auth/core's", fmt.Sprintf("%d connections; the dashed line is @auth/core", n), bars, 1)
}

// chartRates shows what everybody does at session checks. The native program would leave no room for the
// others, so it is in the note.
func (r result) chartRates(c *chart, n int) {
	var bars []bar
	note := fmt.Sprintf("GET session, jwt, %d connections", n)
	for _, variant := range variants {
		found := r.find("session-jwt", n, variant)
		if found == nil {
			continue
		}
		v := over(found.Rounds, rate).median
		if variant == natively {
			note += "; natively " + perSecond(v)
			continue
		}
		bars = append(bars, bar{titles[variant], v, perSecond(v), variant == ours})
	}
	c.bars("Session checks a second", note, bars, 0)
}

func (r result) chartStarts(c *chart) {
	var bars []bar
	for _, s := range r.Starts {
		took, _ := r.started(s.Variant)
		bars = append(bars, bar{titles[s.Variant], took.median, digits(took.median) + " ms", s.Variant == ours})
	}
	c.bars("Cold start", "from the start of workerd to its first answer; shorter is better", bars, 0)
}

type bar struct {
	name  string
	value float64
	label string
	own   bool
}

// bars draws one section, with a line at mark unless that is 0.
func (c *chart) bars(head, note string, bars []bar, mark float64) {
	if len(bars) == 0 {
		return
	}
	most := mark
	for _, b := range bars {
		most = max(most, b.value)
	}
	x := func(v float64) int { return int(v / most * wide) }
	fmt.Fprintf(&c.svg, "<text class=\"head\" x=\"12\" y=\"%d\">%s</text>\n<text class=\"note\" x=\"12\" y=\"%d\">%s</text>\n",
		c.y+10, html.EscapeString(head), c.y+28, html.EscapeString(note))
	c.y += 40
	top := c.y
	for _, b := range bars {
		class := "other"
		if b.own {
			class = "own"
		}
		middle := c.y + barHeight/2 + 5
		fmt.Fprintf(&c.svg, "<text class=\"name\" x=\"%d\" y=\"%d\">%s</text><rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
			left-8, middle, html.EscapeString(b.name), class, left, c.y, max(x(b.value), 1), barHeight, left+wide+10, middle, html.EscapeString(b.label))
		c.y += barHeight + 8
	}
	if mark > 0 {
		at := left + x(mark)
		fmt.Fprintf(&c.svg, "<line class=\"mark\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", at, top-4, at, c.y-4)
	}
	c.y += 30
}
