package wasmtest

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

func TestJoinedDataIsTheSameMemory(t *testing.T) {
	t.Parallel()
	path, err := build(t.Context(), "testdata/echo", "", t.TempDir)
	if err != nil {
		t.Fatal(err)
	}
	guest, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data := func(module []byte) (section []byte) {
		for r := (reader{rest: module[8:]}); len(r.rest) > 0; {
			if id, content := r.byte(), r.take(r.unsigned()); id == sectionData {
				section = content
			}
		}
		return section
	}
	count := func(section []byte) uint64 { return (&reader{rest: section}).unsigned() }
	joined := joinData(guest)
	before, after := count(data(guest)), count(data(joined))
	if after*10 > before || len(joined) > len(guest)*5/4 {
		t.Errorf("%d segments in %d bytes became %d in %d", before, len(guest), after, len(joined))
	}
	if again := joinData(joined); !bytes.Equal(again, joined) {
		t.Error("joining joined data changes it")
	}
	if memory := memoryOf(t, data(guest)); len(memory) != 512*pageBytes || !bytes.Equal(memory, memoryOf(t, data(joined))) {
		t.Error("the memory is another one")
	}
}

// memoryOf is what a data section makes of a memory, as wazero understands it.
func memoryOf(t testing.TB, section []byte) []byte {
	t.Helper()
	module := append([]byte("\x00asm\x01\x00\x00\x00"), "\x05\x04\x01\x00\x80\x04"...) // a memory of 512 pages
	module = append(module, "\x07\x05\x01\x01m\x02\x00"...)                            // exported as m
	module = append(binary.AppendUvarint(append(module, sectionData), uint64(len(section))), section...)
	runtime := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	defer runtime.Close(t.Context())
	instance, err := runtime.InstantiateWithConfig(t.Context(), module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil
	}
	var memory api.Memory = instance.ExportedMemory("m")
	content, _ := memory.Read(0, memory.Size())
	return slices.Clone(content)
}

func TestDataThatStaysAsItIs(t *testing.T) {
	t.Parallel()
	for name, section := range map[string]string{
		"overlapping":        "\x02\x00\x41\x00\x0b\x02ab\x00\x41\x01\x0b\x02cd",
		"passive":            "\x01\x01\x02ab",
		"another memory":     "\x01\x02\x00\x41\x00\x0b\x02ab",
		"an offset of i64":   "\x01\x00\x42\x00\x0b\x02ab",
		"an offset computed": "\x01\x00\x41\x00\x41\x00\x6a\x0b\x02ab",
		"cut off":            "\x01\x00\x41\x00\x0b\x09ab",
		"too long":           "\x01\x00\x41\x00\x0b\x02abc",
		"too many":           "\xff\xff\xff\xff\x0f",
	} {
		if joined, ok := joinSegments([]byte(section)); ok {
			t.Errorf("%s: became %q", name, joined)
		}
	}
	counted := append([]byte("\x00asm\x01\x00\x00\x00\x0c\x01\x02"), "\x0b\x0d\x02\x00\x41\x00\x0b\x01a\x00\x41\x01\x0b\x01b"...)
	if !bytes.Equal(joinData(counted), counted) {
		t.Error("a module with a count of its data was changed")
	}
}

func TestNumbersInLEB128(t *testing.T) {
	t.Parallel()
	for _, v := range []int32{0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, 1 << 20, math.MaxInt32, math.MinInt32} {
		b := appendSigned(nil, v)
		r := reader{rest: append(b, 7)}
		if got := r.signed(); got != v || r.bad || len(r.rest) != 1 {
			t.Errorf("%d is %x and becomes %d", v, b, got)
		}
	}
}

func FuzzJoinData(f *testing.F) {
	f.Add([]byte("\x03\x00\x41\x00\x0b\x02ab\x00\x41\x04\x0b\x02cd\x00\x41\x80\x80\x02\x0b\x01e"))
	f.Add([]byte("\x02\x00\x41\x10\x0b\x02ab\x00\x41\x00\x0b\x02cd"))
	f.Fuzz(func(t *testing.T, section []byte) {
		joined, ok := joinSegments(section)
		if !ok {
			return
		}
		if want := memoryOf(t, section); want != nil && !bytes.Equal(memoryOf(t, joined), want) {
			t.Errorf("%q became %q", section, joined)
		}
		module := append([]byte("\x00asm\x01\x00\x00\x00\x0b"), section...)
		_ = joinData(module)
	})
}
