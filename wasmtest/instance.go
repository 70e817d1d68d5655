package wasmtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/edgeauth/edgeauth/edge/abi"
)

// instance is one running copy of the program, used by one goroutine at a time.
type instance struct {
	module  *Module
	guest   api.Module
	handle  api.Function
	output  *lineLog
	clock   *clock
	request *exchange         // the one being handled, or nil
	results map[uint32][]byte // what the program has not taken yet
	last    uint32            // handle of the newest result
}

type instanceKey struct{}

// exchange is one request on its way through an instance.
type exchange struct {
	answered bool
	response chan reply // has room for the one reply it gets
}

// reply is a response of the program, or the status of a failure.
type reply struct {
	response abi.Response
	failure  int
}

// instantiate makes an instance and runs the program up to edge.Serve.
func (m *Module) instantiate(ctx context.Context) (*instance, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startLimit)
	defer cancel()
	in := &instance{
		module:  m,
		output:  &lineLog{to: m.log},
		clock:   newClock(m.config.Now),
		results: map[uint32][]byte{},
	}
	ctx = context.WithValue(ctx, instanceKey{}, in)
	in.clock.ctx = ctx
	guest, err := m.runtime.InstantiateModule(ctx, m.compiled, in.config())
	if err != nil {
		return nil, in.startError(ctx, err)
	}
	in.guest, in.handle = guest, guest.ExportedFunction(abi.ExportHandle)
	status, err := guest.ExportedFunction(abi.ExportStart).Call(ctx)
	if err == nil && status[0] != uint64(abi.CodeOK) {
		err = errors.New("main returned without calling edge.Serve")
	}
	if err != nil {
		return nil, errors.Join(in.startError(ctx, err), guest.Close(context.WithoutCancel(ctx)))
	}
	in.output.start()
	clear(in.results)
	return in, nil
}

func (in *instance) config() wazero.ModuleConfig {
	c := wazero.NewModuleConfig().
		WithName("").
		WithStartFunctions("_initialize").
		WithArgs("guest").
		WithStdout(in.output).
		WithStderr(in.output).
		WithRandSource(in.module.random).
		WithWalltime(in.clock.wall, 1000).
		WithNanotime(in.clock.monotonic, 1000).
		WithNanosleep(in.clock.sleep)
	for name, value := range in.module.config.Env {
		c = c.WithEnv(name, value)
	}
	return c
}

func (in *instance) startError(ctx context.Context, err error) error {
	in.output.flush()
	reason := ending(err)
	if ctx.Err() != nil {
		reason = fmt.Sprintf("it was not serving after %v", startLimit)
	}
	return &StartError{Reason: reason, Log: in.output.start()}
}

// ending says in a few words how a call into the program ended it.
func ending(err error) string {
	if exit, ok := errors.AsType[*sys.ExitError](err); ok {
		return fmt.Sprintf("it exited with code %d", exit.ExitCode())
	}
	return err.Error()
}

// serve handles one request from beginning to end and reports whether the instance can handle another. The reply is
// sent as soon as it is known, which can be long before serve returns.
func (in *instance) serve(ctx context.Context, request []byte, x *exchange) bool {
	ctx = context.WithValue(ctx, instanceKey{}, in)
	in.request, in.clock.ctx = x, ctx
	handle := in.keep(request)
	status, err := in.handle.Call(ctx, uint64(handle), uint64(len(request)))
	in.output.flush()
	in.request, in.clock.ctx = nil, nil
	clear(in.results)
	log := in.module.log
	switch {
	case err != nil && ctx.Err() != nil:
		log.printf("a request exceeded its deadline of %v; its instance is replaced", in.module.config.Deadline)
		in.settle(x, 504)
	case err != nil:
		log.printf("the program ended during a request: %s; its instance is replaced", ending(err))
		in.settle(x, 500)
	case abi.Code(status[0]) == abi.CodeMalformed:
		in.settle(x, 400)
		return true
	case status[0] != uint64(abi.CodeOK) || !x.answered:
		log.printf("the program did not answer a request; its instance is replaced")
		in.settle(x, 500)
	case int64(in.guest.Memory().Size()) > in.module.config.MaxMemory/2:
		log.printf("an instance holds %d MiB; it is replaced", in.guest.Memory().Size()>>20)
	default:
		return true
	}
	return false
}

func (in *instance) settle(x *exchange, failure int) {
	if !x.answered {
		x.answered = true
		x.response <- reply{failure: failure}
	}
}

func (in *instance) close() {
	_ = in.guest.Close(context.Background()) // fails only when the program has closed itself, with its exit code
}

// keep holds a result for the program and returns its handle, or 0 when too many wait already.
func (in *instance) keep(result []byte) uint32 {
	if len(in.results) >= abi.MaxResults {
		return 0
	}
	if in.last++; in.last == 0 {
		in.last++
	}
	in.results[in.last] = result
	return in.last
}
