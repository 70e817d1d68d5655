package core

import (
	"context"
	"errors"
	"reflect"
	"testing"
)

// Every method of an adapter is counted, gets what it was given and gives what it gave; what is
// nil stays nil, or New could not name it.
func TestEveryMethodIsMetered(t *testing.T) {
	t.Parallel()
	kind := reflect.TypeFor[Adapter]()
	failure := reflect.ValueOf(errors.New("the store is down"))
	for field := range kind.Fields() {
		if field.Type.Kind() != reflect.Func {
			continue
		}
		var adapter Adapter
		var got []reflect.Value
		reflect.ValueOf(&adapter).Elem().FieldByIndex(field.Index).Set(reflect.MakeFunc(field.Type, func(args []reflect.Value) []reflect.Value {
			got = args
			out := make([]reflect.Value, field.Type.NumOut())
			for i := range out {
				if out[i] = reflect.Zero(field.Type.Out(i)); i == len(out)-1 {
					out[i] = failure.Convert(field.Type.Out(i))
				}
			}
			return out
		}))
		metered := reflect.ValueOf(adapter.metered()).Elem()
		count := new(meter)
		args := []reflect.Value{reflect.ValueOf(context.WithValue(t.Context(), meterKey{}, count))}
		for i := 1; i < field.Type.NumIn(); i++ {
			value := reflect.New(field.Type.In(i)).Elem()
			if value.Kind() == reflect.String {
				value.SetString(field.Name + string(rune('a'+i)))
			}
			args = append(args, value)
		}
		out := metered.FieldByIndex(field.Index).Call(args)
		if n := count.store.calls.Load(); n != 1 || count.provider.calls.Load() != 0 {
			t.Errorf("%s is counted %d times", field.Name, n)
		}
		if err, _ := out[len(out)-1].Interface().(error); err != failure.Interface() || len(got) != len(args) {
			t.Errorf("%s gave %v for %d arguments", field.Name, err, len(got))
		}
		for i := 1; i < len(got); i++ {
			if !reflect.DeepEqual(got[i].Interface(), args[i].Interface()) {
				t.Errorf("%s: argument %d is %v", field.Name, i, got[i])
			}
		}
		for other := range kind.Fields() {
			if value := metered.FieldByIndex(other.Index); other.Name != field.Name && !value.IsNil() {
				t.Errorf("with %s alone %s is there, too", field.Name, other.Name)
			}
		}
	}
}
