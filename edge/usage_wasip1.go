package edge

import "runtime"

// usage tells the host what the program holds, for wasmtest's CheckLeaks: the number of
// goroutines << 32 | the bytes of the heap.
//
//go:wasmexport edge_usage
func usage() uint64 {
	runtime.GC()
	runtime.GC() // what the first one only takes out of pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return uint64(runtime.NumGoroutine())<<32 | m.HeapAlloc
}
