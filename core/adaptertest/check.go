package adaptertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/edgeauth/edgeauth/core"
)

// rounds is how often the cases that race do so.
const rounds = 10

// A check is one case at work: the adapter, and what is demanded of its answers. A demand
// that is not met ends the case.
type check struct {
	*core.Adapter
	ctx   context.Context
	crowd int // how many call at once in the cases that race
}

// whole gives a copy of the adapter in which a method that is nil ends the case.
func whole(adapter *core.Adapter) *core.Adapter {
	out := *adapter
	methods := reflect.ValueOf(&out).Elem()
	for i := range methods.NumField() {
		method, name := methods.Field(i), methods.Type().Field(i).Name
		if method.Kind() == reflect.Func && method.IsNil() {
			method.Set(reflect.MakeFunc(method.Type(), func([]reflect.Value) []reflect.Value {
				panic(broken{fmt.Errorf("%s is nil; if that is on purpose, skip the case and say why", name)})
			}))
		}
	}
	return &out
}

func (c *check) failf(format string, args ...any) {
	panic(broken{fmt.Errorf(format, args...)})
}

// An answer is what a method gave.
type answer struct {
	value any // a record, by value; nil: absent
	err   error
}

func of[T any](record *T, err error) answer {
	if record == nil {
		return answer{nil, err}
	}
	return answer{*record, err}
}

// done demands that a call did not fail.
func (c *check) done(call string, err error) {
	if err != nil {
		c.failf("%s failed: %w", call, err)
	}
}

// equal demands a record.
func (c *check) equal(call string, got answer, want any) {
	c.done(call, got.err)
	if got.value == nil {
		c.failf("%s gave nothing", call)
	}
	if d := difference(got.value, want); d != "" {
		c.failf("%s gave another record: %s", call, d)
	}
}

// absent demands that there is no record, which is not an error.
func (c *check) absent(call string, got answer) {
	if got.err != nil {
		c.failf("%s gave an error where there is no record: %w", call, got.err)
	}
	if got.value != nil {
		c.failf("%s gave a record that should not be there: %.300v", call, got.value)
	}
}

// conflict demands ErrConflict.
func (c *check) conflict(call string, err error) {
	switch {
	case err == nil:
		c.failf("%s succeeded, want ErrConflict", call)
	case !errors.Is(err, core.ErrConflict):
		c.failf("%s failed, but not with ErrConflict: %w", call, err)
	}
}

// fails demands an error, whichever.
func (c *check) fails(call string, err error) {
	if err == nil {
		c.failf("%s succeeded, want an error", call)
	}
}

// session looks up a session and its user, who come together or not at all.
func (c *check) session(token string) (session, user answer) {
	s, u, err := c.GetSessionAndUser(c.ctx, token)
	switch {
	case err != nil:
	case (s == nil) != (u == nil):
		c.failf("GetSessionAndUser gave a session without its user, or a user without a session")
	case s != nil && s.UserID != u.ID:
		c.failf("GetSessionAndUser gave a session of user %q with user %q", s.UserID, u.ID)
	}
	return of(s, err), of(u, err)
}

func (c *check) noSession(call, token string) {
	session, _ := c.session(token)
	c.absent(call, session)
}

// The following store records that nothing speaks against. An Extra is given as a copy: an
// adapter that changes it must not change what is demanded.

func (c *check) addUsers(users ...core.User) {
	for _, user := range users {
		given := user
		given.Extra = cloneExtra(user.Extra)
		c.equal("CreateUser", of(c.CreateUser(c.ctx, given)), user)
	}
}

func (c *check) addAccounts(accounts ...core.Account) {
	for _, a := range accounts {
		a.Extra = cloneExtra(a.Extra)
		c.done("LinkAccount", c.LinkAccount(c.ctx, a))
	}
}

func (c *check) addSessions(sessions ...core.AdapterSession) {
	for _, s := range sessions {
		c.equal("CreateSession", of(c.CreateSession(c.ctx, s)), s)
	}
}

func (c *check) addTokens(tokens ...core.VerificationToken) {
	for _, t := range tokens {
		c.done("CreateVerificationToken", c.CreateVerificationToken(c.ctx, t))
	}
}

func (c *check) addAuthenticators(authenticators ...core.Authenticator) {
	for _, a := range authenticators {
		c.equal("CreateAuthenticator", of(c.CreateAuthenticator(c.ctx, a)), a)
	}
}

// ended is a context that has ended.
func (c *check) ended() context.Context {
	ctx, cancel := context.WithCancel(c.ctx)
	cancel()
	return ctx
}

// together makes n calls at once and waits for all of them.
func (c *check) together(n int, call func(i int)) {
	var (
		mu    sync.Mutex
		first error
		all   sync.WaitGroup
		start = make(chan struct{})
	)
	for i := range n {
		all.Go(func() {
			defer func() {
				if seen := caught(recover()); seen != nil {
					mu.Lock()
					defer mu.Unlock()
					first = seen
				}
			}()
			<-start
			call(i)
		})
	}
	close(start)
	all.Wait()
	if first != nil {
		panic(broken{first})
	}
}

// difference describes the first field in which two records of one type differ, or is "".
func difference(got, want any) string {
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range w.NumField() {
		if w.Type().Field(i).Name == "Revision" {
			continue // the adapter's own affair
		}
		g, w := g.Field(i).Interface(), w.Field(i).Interface()
		if !same(g, w) {
			return fmt.Sprintf("%s is %s, want %s", reflect.TypeOf(want).Field(i).Name, shown(g), shown(w))
		}
	}
	return ""
}

// same compares fields: times as moments, Extra as JSON, the rest as it is.
func same(got, want any) bool {
	switch want := want.(type) {
	case time.Time:
		return got.(time.Time).Equal(want)
	case map[string]any:
		return sameJSON(got.(map[string]any), want)
	}
	return got == want
}

// sameJSON compares what would be written. So it doesn't matter which Go type a number has,
// and matters that it kept its digits; an empty Extra is as good as none.
func sameJSON(got, want map[string]any) bool {
	if len(got) == 0 && len(want) == 0 {
		return true
	}
	g, err := json.Marshal(got)
	w, err2 := json.Marshal(want)
	return err == nil && err2 == nil && bytes.Equal(g, w)
}

// shown is a value for an error message, which must stay readable when the value is 10 KB.
func shown(value any) string {
	switch value := value.(type) {
	case string:
		return fmt.Sprintf("%.100q", value)
	case time.Time:
		return value.UTC().Format(time.RFC3339Nano)
	case map[string]any:
		text, err := json.Marshal(value)
		if err == nil {
			return fmt.Sprintf("%.300s", text)
		}
	}
	return fmt.Sprintf("%.300v", value)
}
