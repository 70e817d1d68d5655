package core

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// withDefaults fills in the functions that are nil, and silences Debug unless it is on.
func (l Logger) withDefaults(debug bool) Logger {
	if l.Error == nil {
		l.Error = standardError("error")
	}
	if l.Warn == nil {
		l.Warn = standardError("warn")
	}
	if !debug {
		l.Debug = func(string, ...any) {}
	} else if l.Debug == nil {
		l.Debug = standardError("debug")
	}
	return l
}

// standardError writes one line: [auth][error] MissingCSRF message="…" action=signin
func standardError(level string) func(string, ...any) {
	return func(msg string, args ...any) {
		var line strings.Builder
		line.WriteString("[auth][" + level + "] " + msg)
		for i := 0; i+1 < len(args); i += 2 {
			value := fmt.Sprint(args[i+1])
			if value == "" || strings.ContainsFunc(value, needsQuotes) {
				value = strconv.Quote(value)
			}
			fmt.Fprintf(&line, " %v=%s", args[i], value)
		}
		line.WriteByte('\n')
		_, _ = os.Stderr.WriteString(line.String()) // there is nowhere else to say that it failed
	}
}

// needsQuotes reports whether a character could end a value, or the line, or be shown as
// something else than it is.
func needsQuotes(c rune) bool {
	return c == ' ' || c == '"' || c == '=' || c == '\ufffd' || !strconv.IsPrint(c)
}
