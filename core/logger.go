package core

import (
	"fmt"
	"os"
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
			if strings.ContainsAny(value, " \t\r\n\"=") {
				value = fmt.Sprintf("%q", value)
			}
			fmt.Fprintf(&line, " %v=%s", args[i], value)
		}
		line.WriteByte('\n')
		_, _ = os.Stderr.WriteString(line.String()) // there is nowhere else to say that it failed
	}
}
