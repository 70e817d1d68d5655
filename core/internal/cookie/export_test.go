package cookie

import "iter"

// All yields names and values, each name once, in the order of their first appearance.
func (j Jar) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, p := range j.pairs {
			if !yield(p.name, p.value) {
				return
			}
		}
	}
}
