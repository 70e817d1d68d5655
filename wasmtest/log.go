package wasmtest

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

const (
	maxLine = 8 << 10 // a longer line is cut into several
	maxTail = 4 << 10 // what a StartError keeps
)

// logger writes whole lines of several instances to one writer.
type logger struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *logger) line(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.w.Write(line) // nobody is left to be told that the log fails
}

func (l *logger) printf(format string, args ...any) {
	l.line(fmt.Appendf(nil, "wasmtest: "+format+"\n", args...))
}

// lineLog is the standard output and error of one instance. It is used by one goroutine at a time.
type lineLog struct {
	to      *logger
	partial []byte
	tail    []byte // the last output, until the instance has started
	started bool
}

func (l *lineLog) Write(p []byte) (int, error) {
	if !l.started {
		l.tail = append(l.tail, p...)
		l.tail = l.tail[max(0, len(l.tail)-maxTail):]
	}
	for rest := p; len(rest) > 0; {
		n := min(len(rest), maxLine-len(l.partial))
		if i := bytes.IndexByte(rest[:n], '\n'); i >= 0 {
			n = i + 1
		}
		l.partial = append(l.partial, rest[:n]...)
		rest = rest[n:]
		if l.partial[len(l.partial)-1] == '\n' || len(l.partial) >= maxLine {
			l.flush()
		}
	}
	return len(p), nil
}

// flush writes a line the program has not ended.
func (l *lineLog) flush() {
	if len(l.partial) == 0 {
		return
	}
	if l.partial[len(l.partial)-1] != '\n' {
		l.partial = append(l.partial, '\n')
	}
	l.to.line(l.partial)
	l.partial = l.partial[:0]
}

// start forgets the tail and returns it.
func (l *lineLog) start() string {
	tail := string(bytes.TrimSpace(l.tail))
	l.tail, l.started = nil, true
	return tail
}
