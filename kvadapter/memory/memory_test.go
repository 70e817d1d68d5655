package memory_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// Abandoned sign-ins must not fill the memory.
func TestWhatHasExpiredIsForgotten(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	s := memory.New(func() time.Time { return now })
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	const size = 16 << 10
	for i := range 20_000 { // 320 MB, of which a second's worth is alive
		now = now.Add(time.Millisecond)
		if _, err := s.Commit(t.Context(), nil, []kv.Write{{Key: fmt.Sprint("token:", i), Value: make([]byte, size), Expires: now.Add(time.Second)}}); err != nil {
			t.Fatal(err)
		}
	}
	if after := heap(); after > before+4000*size {
		t.Errorf("the heap has grown from %d MB to %d MB", before>>20, after>>20)
	}
	runtime.KeepAlive(s)
}
