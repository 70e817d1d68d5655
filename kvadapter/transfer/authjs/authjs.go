// Package authjs brings what is in the tables of Auth.js's SQL adapters into a store of kvadapter.
package authjs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/transfer"
)

// Tables are the tables of one of Auth.js's SQL adapters, each as NDJSON or as CSV with the
// names of columns in the first line. Nil: there is no such table.
//
// Columns are known by the names that @auth/pg-adapter, d1, drizzle, prisma and kysely give them,
// be it as userId or as user_id. Times may be ISO 8601, SQL timestamps, and seconds or
// milliseconds since 1970; without a zone they are UTC.
type Tables struct {
	Users, Accounts, Sessions, VerificationTokens, Authenticators io.Reader
}

// Options say how tables are imported.
type Options struct {
	// Prefix is kvadapter.Options.KeyPrefix.
	Prefix string

	// Extra names columns that a site has added to users or accounts, such as role: they become
	// members of core.User.Extra and core.Account.Extra, of a JSON file with their type, of CSV as
	// text. What is in a user's Extra may be shown to clients. Nil: the others are ignored.
	Extra []string

	// Rejected takes rows that can't go in; its error ends the import. Nil: the first one ends it
	// with a *transfer.RejectError.
	Rejected func(transfer.Reject) error

	// Progress is told now and then how far a table is. What it says is in the store. Nil: nobody.
	Progress func(Count)
}

// A Count says what became of the rows of a table.
type Count struct {
	Table    string
	Rows     int
	Stored   int
	Expired  int      // sessions and verification tokens that have ended, and are left out
	Rejected int      // rows that can't go in
	Ignored  []string // columns that mean nothing to this package, and aren't among Extra
}

// An authTable is how rows of a table become records.
type authTable struct {
	name    string
	columns []string // that store reads, or that nobody needs
	hasMore bool     // may have columns of the site's own
	store   func(ctx context.Context, a *core.Adapter, f *fields, extra map[string]any) error
}

var errExpired = errors.New("authjs: it has ended")

// Import stores what is in the tables of Auth.js, through an adapter of package kvadapter: users
// first, then what belongs to them. Session tokens stay what they are, so nobody has to sign in
// anew, and so do addresses, byte by byte. Of several rows that can't all go in, such as users with
// one address, the first one does.
//
// The store is written some hundred records at a time. If an import fails, start again with an empty store.
func Import(ctx context.Context, to kv.Store, tables Tables, o Options) ([]Count, error) {
	store := combine(to)
	adapter := kvadapter.New(store, kvadapter.Options{KeyPrefix: o.Prefix})
	if reason := adapter.Absent["createUser"]; reason != "" {
		return nil, errors.New("authjs: " + reason)
	}
	var counts []Count
	for i, in := range []io.Reader{tables.Users, tables.Accounts, tables.Authenticators, tables.Sessions, tables.VerificationTokens} {
		if in == nil {
			continue
		}
		count, err := authTables[i].load(ctx, store, adapter, in, o)
		counts = append(counts, count)
		if err != nil {
			return counts, err
		}
	}
	return counts, nil
}

var authTables = [...]authTable{
	{"users", []string{"id", "name", "email", "emailVerified", "image"}, true, storeUser},
	{"accounts", []string{
		"id", "userId", "type", "provider", "providerAccountId", "refresh_token", "access_token", "expires_at",
		"id_token", "scope", "session_state", "token_type",
	}, true, storeAccount},
	{"authenticators", []string{
		"id", "userId", "credentialID", "providerAccountId", "credentialPublicKey", "counter",
		"credentialDeviceType", "credentialBackedUp", "transports",
	}, false, storeAuthenticator},
	{"sessions", []string{"id", "userId", "expires", "sessionToken"}, false, storeSession},
	{"verification tokens", []string{"id", "identifier", "expires", "token"}, false, storeToken},
}

// load stores the rows of a table.
func (t *authTable) load(ctx context.Context, store *combined, adapter *core.Adapter, in io.Reader, o Options) (done Count, err error) {
	rows := newTable(t.name, in)
	known, wanted := columnNames(t.columns), columnNames(o.Extra)
	done = Count{Table: t.name}
	read := done
	flush := func() error {
		if err := store.flush(ctx); err != nil {
			return err
		}
		if done = read; o.Progress != nil {
			o.Progress(done)
		}
		return nil
	}
	for {
		r, reason, err := rows.next()
		if err == io.EOF {
			return done, flush()
		}
		if err != nil {
			return done, errors.Join(err, flush())
		}
		if reason == "" {
			f := &fields{row: r}
			extra := map[string]any{}
			for column, value := range r.columns {
				switch {
				case known[column]:
				case t.hasMore && wanted[column]:
					extra[r.names[column]] = extraValue(value)
				case !slices.Contains(read.Ignored, r.names[column]):
					read.Ignored = append(slices.Clone(read.Ignored), r.names[column])
				}
			}
			err := t.store(ctx, adapter, f, extra)
			if store.failed != nil {
				return done, store.failed
			}
			switch {
			case err == errExpired:
				read.Expired++
			case err != nil:
				if reason = reasonOf(err); reason == "" {
					return done, err
				}
			default:
				read.Stored++
			}
		}
		if reason != "" {
			read.Rejected++
			bad := transfer.Reject{Table: t.name, Line: r.line, Reason: reason, Text: r.text, Header: rows.header}
			var err error = &transfer.RejectError{Reject: bad}
			if o.Rejected != nil {
				err = o.Rejected(bad)
			}
			if err != nil {
				return done, errors.Join(err, flush())
			}
		}
		if read.Rows++; store.isFull() || read.Rows%1000 == 0 {
			if err := flush(); err != nil {
				return done, err
			}
		}
	}
}

func columnNames(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[columnName(name)] = true
	}
	return set
}

func extraValue(value any) any {
	text, ok := value.(json.RawMessage)
	if !ok {
		return value
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&value) // it was read once
	return value
}

// A badRow is why a row can't go in.
type badRow string

func (r badRow) Error() string { return "authjs: " + string(r) }

func (f *fields) err() error {
	if f.reason == "" {
		return nil
	}
	return badRow(f.reason)
}

// reasonOf gives the reason of an error that is about a row; else it is empty. None of
// these has anything of the row in it.
func reasonOf(err error) string {
	if bad, ok := errors.AsType[badRow](err); ok {
		return string(bad)
	}
	if conflict, ok := errors.AsType[*core.Error](err); ok && conflict.Kind == core.ErrConflict {
		return conflict.Message
	}
	if limit, ok := errors.AsType[*kv.LimitError](err); ok {
		return limit.Text
	}
	for _, known := range []error{kvadapter.ErrNoUser, kvadapter.ErrTooMany, kvadapter.ErrText} {
		if errors.Is(err, known) {
			return strings.TrimPrefix(known.Error(), "kvadapter: ")
		}
	}
	return ""
}

func storeUser(ctx context.Context, a *core.Adapter, f *fields, extra map[string]any) error {
	u := core.User{
		ID: f.must("id"), Name: f.text("name"), Email: f.text("email"), Image: f.text("image"), EmailVerified: f.time("emailVerified"),
	}
	if len(extra) > 0 {
		u.Extra = extra
	}
	if err := f.err(); err != nil {
		return err
	}
	_, err := a.CreateUser(ctx, u)
	return err
}

func storeAccount(ctx context.Context, a *core.Adapter, f *fields, extra map[string]any) error {
	account := core.Account{
		UserID: f.must("userId"), Provider: f.must("provider"), ProviderAccountID: f.must("providerAccountId"), Type: core.ProviderType(f.text("type")),
		AccessToken: f.text("access_token"), RefreshToken: f.text("refresh_token"), IDToken: f.text("id_token"),
		Scope: f.text("scope"), TokenType: f.text("token_type"), SessionState: f.text("session_state"),
	}
	if t := f.time("expires_at"); !t.IsZero() {
		account.ExpiresAt = t.Unix()
	}
	if len(extra) > 0 {
		account.Extra = extra
	}
	if err := f.err(); err != nil {
		return err
	}
	return a.LinkAccount(ctx, account)
}

func storeAuthenticator(ctx context.Context, a *core.Adapter, f *fields, _ map[string]any) error {
	counter, err := strconv.ParseUint(f.must("counter"), 10, 32)
	if err != nil {
		f.fail("counter", "is not a number")
	}
	passkey := core.Authenticator{
		CredentialID: f.must("credentialID"), UserID: f.must("userId"), ProviderAccountID: f.text("providerAccountId"),
		CredentialPublicKey: f.must("credentialPublicKey"), Counter: uint32(counter), CredentialDeviceType: f.text("credentialDeviceType"),
		CredentialBackedUp: f.truth("credentialBackedUp"), Transports: f.text("transports"),
	}
	if err := f.err(); err != nil {
		return err
	}
	_, err = a.CreateAuthenticator(ctx, passkey)
	return err
}

// mustEnd reads when a row ends. It fails with errExpired if that is over.
func (f *fields) mustEnd() (time.Time, error) {
	if f.must("expires") == "" {
		return time.Time{}, f.err()
	}
	end := f.time("expires")
	switch {
	case f.reason != "":
		return end, f.err()
	case !time.Now().Before(end):
		return end, errExpired
	}
	return end, nil
}

func storeSession(ctx context.Context, a *core.Adapter, f *fields, _ map[string]any) error {
	s := core.AdapterSession{SessionToken: f.must("sessionToken"), UserID: f.must("userId")}
	end, err := f.mustEnd()
	if err != nil {
		return err
	}
	s.Expires = end
	_, err = a.CreateSession(ctx, s)
	return err
}

func storeToken(ctx context.Context, a *core.Adapter, f *fields, _ map[string]any) error {
	t := core.VerificationToken{Identifier: f.must("identifier"), Token: f.must("token")}
	end, err := f.mustEnd()
	if err != nil {
		return err
	}
	t.Expires = end
	return a.CreateVerificationToken(ctx, t)
}
