package simstore

import (
	"slices"
	"time"
)

// maxVersions is how many versions of a key are kept, for stale reads and lists that lag.
const maxVersions = 64

// A record is a value and its end.
type record struct {
	value   []byte
	expires time.Time // zero: never
}

func (r record) hasEnded(now time.Time) bool {
	return !r.expires.IsZero() && !now.Before(r.expires)
}

// A version is what a key was at some time. The zero version is that of a key nobody has
// written.
type version struct {
	record
	number int // from 1, in the order in which writes took effect
	isGone bool
	at     time.Time // when it took effect
	by     int       // the location that wrote it
}

// is reports whether there is a value at now, seen with a store that gives values for linger
// after their end.
func (v version) is(now time.Time, linger time.Duration) bool {
	return v.number > 0 && !v.isGone && !v.hasEnded(now.Add(-linger))
}

// A history is the central record of one key.
type history struct {
	versions []version // by number; only the last maxVersions
	last     int       // number of the newest version
	accepted time.Time // when the last write was accepted
	held     []held
}

// A held write takes effect after the next write to its key or when it is due, whichever is first.
type held struct {
	version
	due time.Time
}

// write adds a version, and after it the held ones, as they were overtaken by it.
func (h *history) write(v version) {
	h.add(v)
	for _, late := range h.held {
		late.at = v.at
		h.add(late.version)
	}
	h.held = nil
}

// settle lets held writes take effect that are due.
func (h *history) settle(now time.Time) {
	h.held = slices.DeleteFunc(h.held, func(late held) bool {
		if now.Before(late.due) {
			return false
		}
		late.at = late.due
		h.add(late.version)
		return true
	})
}

func (h *history) add(v version) {
	h.last++
	v.number = h.last
	h.versions = append(h.versions, v)
	if len(h.versions) > maxVersions {
		h.versions = slices.Delete(h.versions, 0, 1)
	}
}

// newest gives the newest version that see accepts, the zero one if there is none.
func (h *history) newest(see func(version) bool) version {
	for _, v := range slices.Backward(h.versions) {
		if see(v) {
			return v
		}
	}
	return version{}
}

// before gives the version that is n older than v.
func (h *history) before(v version, n int) version {
	return h.newest(func(old version) bool { return old.number <= v.number-n })
}
