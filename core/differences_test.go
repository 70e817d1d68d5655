package core_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what is made from other files")

// TestDifferences holds the README's table of deliberate differences to differences.json, which
// also tells the comparison with @auth/core what to expect. -update rewrites the table.
func TestDifferences(t *testing.T) {
	t.Parallel()
	const readme = "../README.md"
	table := []byte(differencesTable(t))
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- differences -->\n", "<!-- /differences -->"
	before, rest, ok := bytes.Cut(text, []byte(begin))
	old, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		t.Fatalf("%s has no lines %s and %s", readme, strings.TrimSpace(begin), end)
	}
	if bytes.Equal(old, table) {
		return
	}
	if !*update {
		t.Fatalf("the table in %s is not that of differences.json: run make differences", readme)
	}
	out := bytes.Join([][]byte{before, []byte(begin), table, []byte(end), after}, nil)
	if err := os.WriteFile(readme, out, 0o644); err != nil {
		t.Fatal(err)
	}
}

// differencesTable is the table, a row for each difference whatever the number of its ids.
func differencesTable(t *testing.T) string {
	raw, err := os.ReadFile("differences.json")
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct {
		ID        string `json:"id"` // of the comparison's checks, with * for any text
		Got       any    `json:"got"`
		Reference string `json:"reference"`
		Here      string `json:"here"`
		Reason    string `json:"reason"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&entries); err != nil {
		t.Fatalf("differences.json: %v", err)
	}
	if len(entries) == 0 {
		t.Fatal("differences.json is empty")
	}
	var table strings.Builder
	table.WriteString("| `@auth/core` | here | why |\n| --- | --- | --- |\n")
	reasons := map[[2]string]string{}
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	for i, e := range entries {
		if e.ID == "" || e.Reference == "" || e.Here == "" || e.Reason == "" {
			t.Errorf("entry %d (%s) lacks an id, reference, here or reason", i, e.ID)
		}
		key := [2]string{e.Reference, e.Here}
		if reason, seen := reasons[key]; seen {
			if reason != e.Reason {
				t.Errorf("entry %d (%s) gives another reason for the same difference", i, e.ID)
			}
			continue
		}
		reasons[key] = e.Reason
		table.WriteString("| " + cell.Replace(e.Reference) + " | " + cell.Replace(e.Here) + " | " + cell.Replace(e.Reason) + " |\n")
	}
	return table.String()
}
