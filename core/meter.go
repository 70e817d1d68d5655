package core

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// A meter counts what one request asks of the store and of providers. It travels in the
// request's context, and only if Config.ServerTiming or Config.Debug is set.
type meter struct {
	store, provider tally
}

// A tally is the calls of one kind. A hook may make several at once.
type tally struct {
	calls, spent atomic.Int64 // spent is nanoseconds
}

// since adds the time that a call, or a part of one, has taken.
func (t *tally) since(start time.Time) { t.spent.Add(int64(time.Since(start))) }

type meterKey struct{}

// meterOf gives the meter of a request; one that nobody reads for any other context.
func meterOf(ctx context.Context) *meter {
	if m, ok := ctx.Value(meterKey{}).(*meter); ok {
		return m
	}
	return new(meter)
}

// measure begins to count, if anybody wants to know.
func (x *exchange) measure() {
	if x.measured {
		x.meter = new(meter)
		x.ctx = context.WithValue(x.ctx, meterKey{}, x.meter)
	}
}

// done ends a request that was counted: with a header, a line in the log, or both. There is
// no response if a direct call gave an error instead.
func (x *exchange) done(resp *Response) *Response {
	if x.meter == nil {
		return resp
	}
	total, store, provider := time.Since(x.now), &x.meter.store, &x.meter.provider
	if x.config.ServerTiming && resp != nil {
		line := append(make([]byte, 0, 96), "total;dur="...)
		line = strconv.AppendFloat(line, milliseconds(total), 'f', 1, 64)
		line = store.append(append(line, ", store"...))
		line = provider.append(append(line, ", provider"...))
		resp.Header.Set("Server-Timing", string(line))
	}
	if !x.config.Debug {
		return resp
	}
	args := make([]any, 0, 20)
	args = append(args, "action", string(x.action), "method", methodName(x.r.Method))
	if x.provider != nil {
		args = append(args, "provider", x.provider.id)
	}
	if resp != nil {
		args = append(args, "status", resp.Status)
	}
	x.log.Debug("request answered", append(args, "ms", milliseconds(total),
		"store_calls", store.calls.Load(), "store_ms", milliseconds(store.duration()),
		"provider_calls", provider.calls.Load(), "provider_ms", milliseconds(provider.duration()),
		"request", x.requestID())...)
	return resp
}

func (t *tally) duration() time.Duration { return time.Duration(t.spent.Load()) }

// append writes the parameters of a metric (W3C Server Timing, section 2).
func (t *tally) append(line []byte) []byte {
	line = strconv.AppendFloat(append(line, ";dur="...), milliseconds(t.duration()), 'f', 1, 64)
	line = strconv.AppendInt(append(line, `;desc="`...), t.calls.Load(), 10)
	if t.calls.Load() == 1 {
		return append(line, ` call"`...)
	}
	return append(line, ` calls"`...)
}

// milliseconds has one digit after the point. More would help nobody but those who measure
// how long a comparison takes.
func milliseconds(d time.Duration) float64 {
	return float64(d.Round(100*time.Microsecond)/(100*time.Microsecond)) / 10
}

// methodName is a method as the log may have it: a client can send any word.
func methodName(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// meteredTransport counts the exchanges with providers. Reading the answer is a part of one.
type meteredTransport struct{ http.RoundTripper }

func (t meteredTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	count := &meterOf(r.Context()).provider
	count.calls.Add(1)
	defer count.since(time.Now())
	resp, err := t.RoundTripper.RoundTrip(r)
	if err == nil && resp.Body != nil {
		resp.Body = &meteredBody{resp.Body, count}
	}
	return resp, err
}

type meteredBody struct {
	io.ReadCloser
	count *tally
}

func (b *meteredBody) Read(p []byte) (int, error) {
	defer b.count.since(time.Now())
	return b.ReadCloser.Read(p)
}

// metered gives an adapter whose methods are counted. What is nil stays nil; a method that is
// replaced later is replaced here, too, as without a meter.
func (a *Adapter) metered() *Adapter {
	return &Adapter{
		CreateUser:       metered1(&a.CreateUser),
		GetUser:          metered1(&a.GetUser),
		GetUserByEmail:   metered1(&a.GetUserByEmail),
		GetUserByAccount: metered2(&a.GetUserByAccount),
		UpdateUser:       metered1(&a.UpdateUser),
		DeleteUser:       meteredWrite1(&a.DeleteUser),

		LinkAccount:   meteredWrite1(&a.LinkAccount),
		UnlinkAccount: meteredWrite2(&a.UnlinkAccount),
		GetAccount:    metered2(&a.GetAccount),

		CreateSession:     metered1(&a.CreateSession),
		GetSessionAndUser: meteredPair(&a.GetSessionAndUser),
		UpdateSession:     metered1(&a.UpdateSession),
		DeleteSession:     metered1(&a.DeleteSession),

		CreateVerificationToken: meteredWrite1(&a.CreateVerificationToken),
		UseVerificationToken:    metered2(&a.UseVerificationToken),

		CreateAuthenticator:        metered1(&a.CreateAuthenticator),
		GetAuthenticator:           metered1(&a.GetAuthenticator),
		ListAuthenticatorsByUserID: metered1(&a.ListAuthenticatorsByUserID),
		UpdateAuthenticatorCounter: metered2(&a.UpdateAuthenticatorCounter),

		FindUser: metered1(&a.FindUser),
		SignUp:   meteredPair(&a.SignUp),
		SignIn:   meteredPair(&a.SignIn),
		Users:    meteredPair(&a.Users),

		Absent: a.Absent,
	}
}

// StoreCall counts a call at the store in Server-Timing and the log's store_calls; the function
// it returns ends the call. An adapter that may need several for one of its methods reports each
// of them, with the context that the method was given:
//
//	defer core.StoreCall(ctx)()
//
// A method that reports none counts as one call. Where nothing is measured, nothing happens.
func StoreCall(ctx context.Context) (done func()) {
	m, ok := ctx.Value(meterKey{}).(*meter)
	if !ok {
		return unmeasured
	}
	if reports, ok := ctx.Value(reportsKey{}).(*atomic.Bool); ok {
		reports.Store(true)
	}
	start := time.Now()
	m.store.calls.Add(1)
	return func() { m.store.since(start) }
}

func unmeasured() {}

// reportsKey is for whether a method of an adapter has reported calls.
type reportsKey struct{}

// methodCall gives the context that a method of an adapter is called with; what it returns ends
// the call.
func methodCall(ctx context.Context) (context.Context, func()) {
	m, ok := ctx.Value(meterKey{}).(*meter)
	if !ok {
		return ctx, unmeasured
	}
	reports, start := new(atomic.Bool), time.Now()
	return context.WithValue(ctx, reportsKey{}, reports), func() {
		if !reports.Load() {
			m.store.calls.Add(1)
			m.store.since(start)
		}
	}
}

func metered1[A, R any](call *func(context.Context, A) (R, error)) func(context.Context, A) (R, error) {
	if *call == nil {
		return nil
	}
	return func(ctx context.Context, a A) (R, error) {
		ctx, done := methodCall(ctx)
		defer done()
		return (*call)(ctx, a)
	}
}

func metered2[A, B, R any](call *func(context.Context, A, B) (R, error)) func(context.Context, A, B) (R, error) {
	if *call == nil {
		return nil
	}
	return func(ctx context.Context, a A, b B) (R, error) {
		ctx, done := methodCall(ctx)
		defer done()
		return (*call)(ctx, a, b)
	}
}

func meteredPair[A, R, S any](call *func(context.Context, A) (R, S, error)) func(context.Context, A) (R, S, error) {
	if *call == nil {
		return nil
	}
	return func(ctx context.Context, a A) (R, S, error) {
		ctx, done := methodCall(ctx)
		defer done()
		return (*call)(ctx, a)
	}
}

func meteredWrite1[A any](call *func(context.Context, A) error) func(context.Context, A) error {
	if *call == nil {
		return nil
	}
	return func(ctx context.Context, a A) error {
		ctx, done := methodCall(ctx)
		defer done()
		return (*call)(ctx, a)
	}
}

func meteredWrite2[A, B any](call *func(context.Context, A, B) error) func(context.Context, A, B) error {
	if *call == nil {
		return nil
	}
	return func(ctx context.Context, a A, b B) error {
		ctx, done := methodCall(ctx)
		defer done()
		return (*call)(ctx, a, b)
	}
}
