// Package lines reads files line by line, with a bound on what a line takes of memory.
package lines

import (
	"bufio"
	"bytes"
	"io"
)

// Max is how many bytes a line may have.
const Max = 1 << 20

// A Reader reads a file line by line.
type Reader struct {
	Number int // of the line that was read last; the first one is 1
	in     *bufio.Reader
}

// NewReader gives a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(r, 64<<10)} }

// Next gives a line without its end, and the first one without a byte order mark. One that is longer
// than Max is cut off there. The error is io.EOF behind the last one.
func (r *Reader) Next() (text []byte, tooLong bool, err error) {
	for {
		part, err := r.in.ReadSlice('\n')
		room := Max + len("\r\n") - len(text)
		tooLong = tooLong || len(part) > room
		text = append(text, part[:min(len(part), room)]...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err != nil && (err != io.EOF || len(text) == 0):
			return nil, false, err
		}
		if r.Number++; r.Number == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if !tooLong {
			text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
		}
		if len(text) > Max {
			text, tooLong = text[:Max], true
		}
		return text, tooLong, nil
	}
}
