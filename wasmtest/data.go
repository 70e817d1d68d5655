package wasmtest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

const (
	sectionData      = 11
	sectionDataCount = 12
	opConst          = 0x41 // i32.const
	opEnd            = 0x0b

	// joinedGap is how many zeros may be written out to make one segment of two.
	joinedGap = 256
)

// joinData makes few data segments of the many that the Go linker writes, one for each run without zeros: wazero spends more
// time on their number, for every instance, than on their bytes (WebAssembly Core Specification, section 5.5.14). The memory
// that a program begins with is the same. A module that isn't as Go's are, or isn't one at all, is returned as it is.
func joinData(module []byte) []byte {
	const header = 8
	r := reader{rest: module}
	r.take(header)
	for !r.bad && len(r.rest) > 0 {
		start := len(module) - len(r.rest)
		id := r.byte()
		content := r.take(r.unsigned())
		switch {
		case r.bad || id == sectionDataCount: // whose number would be wrong
			return module
		case id != sectionData:
			continue
		}
		joined, ok := joinSegments(content)
		if !ok {
			return module
		}
		out := make([]byte, 0, len(module)+len(joined)-len(content)+binary.MaxVarintLen64)
		out = append(out, module[:start]...)
		out = append(out, sectionData)
		out = binary.AppendUvarint(out, uint64(len(joined)))
		out = append(out, joined...)
		return append(out, r.rest...)
	}
	return module
}

// joinSegments is joinData for the content of the section. ok is false unless all segments are active, at a constant offset
// of memory 0, and no two have a byte in common: then their order doesn't matter, and what is between them is zero.
func joinSegments(section []byte) (joined []byte, ok bool) {
	type segment struct {
		offset uint64
		data   []byte
	}
	r := reader{rest: section}
	var found []segment
	for n := r.unsigned(); n > 0 && !r.bad; n-- {
		if r.unsigned() != 0 || r.byte() != opConst {
			return nil, false
		}
		offset := uint64(uint32(r.signed()))
		if r.byte() != opEnd {
			return nil, false
		}
		found = append(found, segment{offset, r.take(r.unsigned())})
	}
	if r.bad || len(r.rest) > 0 {
		return nil, false
	}
	slices.SortFunc(found, func(a, b segment) int { return cmp.Compare(a.offset, b.offset) })
	var all []segment
	end := uint64(0)
	for _, s := range found {
		if s.offset < end {
			return nil, false
		}
		if last := len(all) - 1; last >= 0 && s.offset-end <= joinedGap {
			all[last].data = append(append(all[last].data, make([]byte, s.offset-end)...), s.data...)
		} else {
			all = append(all, segment{s.offset, bytes.Clone(s.data)})
		}
		end = s.offset + uint64(len(s.data))
	}
	joined = binary.AppendUvarint(make([]byte, 0, len(section)), uint64(len(all)))
	for _, s := range all {
		joined = append(joined, 0, opConst)
		joined = appendSigned(joined, int32(s.offset))
		joined = append(joined, opEnd)
		joined = binary.AppendUvarint(joined, uint64(len(s.data)))
		joined = append(joined, s.data...)
	}
	return joined, true
}

// reader reads a binary until something is not as it should be.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.rest, r.bad = nil, true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// unsigned reads a number in LEB128.
func (r *reader) unsigned() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.rest, r.bad = nil, true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// signed reads a number of 32 bits in signed LEB128.
func (r *reader) signed() (v int32) {
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		v |= int32(b&0x7f) << shift
		if b&0x80 == 0 {
			if b&0x40 != 0 && shift+7 < 32 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.rest, r.bad = nil, true
	return 0
}

func appendSigned(b []byte, v int32) []byte {
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}
