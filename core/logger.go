package core

import (
	"fmt"
	"net/http"
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

// maxRequestID is how long an ID from outside may be, in bytes. A UUID has 36.
const maxRequestID = 64

// RequestID is what the log calls a request: the header Cf-Ray, which Cloudflare sets, else
// X-Request-Id, if it is up to 64 letters, digits, hyphens, underscores and dots. Else it is random, and
// then another one at each call; an app whose own log is to have the same sets X-Request-Id before the
// handler sees the request. Where no proxy sets these headers a client can: the ID tells lines
// apart, and proves nothing.
func RequestID(r *http.Request) string {
	for _, name := range [...]string{"Cf-Ray", "X-Request-Id"} {
		if values := r.Header[name]; len(values) == 1 && isRequestID(values[0]) {
			return values[0]
		}
	}
	return randomUUID()
}

func isRequestID(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20 // letters in lower case
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') && s[i] != '-' && s[i] != '_' && s[i] != '.' {
			return false
		}
	}
	return s != "" && len(s) <= maxRequestID
}

// requestID is the exchange's, found or made when something is logged.
func (x *exchange) requestID() string {
	if x.id == "" {
		x.id = RequestID(x.r)
	}
	return x.id
}

// standardError writes one line: [auth][error] MissingCSRF message="…" action=signin request=…
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
