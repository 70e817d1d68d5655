package transfer

import (
	"fmt"

	"github.com/edgeauth/edgeauth/kvadapter/transfer/internal/lines"
)

// MaxLine is how many bytes a line may have, or a row of CSV. A longer one is rejected.
const MaxLine = lines.Max

// A Reject is a line that could not go in.
type Reject struct {
	Table  string // of Auth.js, such as "users"; empty: a line of this package's format
	Line   int    // the number of the line, or of the first one of a row; the file's first line is 1
	Reason string // has nothing of the line in it
	Text   []byte // the line as it was, which may hold tokens; of one that is too long the first MaxLine bytes
	Header []byte // the first line of the file that it is from, if Text can't be read without; nil: none
}

// A RejectError is the error for the first line that is rejected when nobody takes it.
type RejectError struct{ Reject Reject }

func (e *RejectError) Error() string {
	if e.Reject.Table == "" {
		return fmt.Sprintf("transfer: line %d: %s", e.Reject.Line, e.Reject.Reason)
	}
	return fmt.Sprintf("transfer: %s, line %d: %s", e.Reject.Table, e.Reject.Line, e.Reject.Reason)
}

const reasonTooLong = "the line is longer than 1 MiB"
