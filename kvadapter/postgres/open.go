package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

// ErrURL is the error for a URL that is none of a server. It doesn't say what is wrong with it,
// since that may be the password.
var ErrURL = errors.New("postgres: want a URL such as postgres://user:password@host:5432/database?sslmode=verify-full; special characters of a password must be percent-encoded")

// A ServerError is what the server answered instead of doing what it was told.
type ServerError struct {
	Action  string // "connecting", "creating the table", "reading", "writing" or "listing"
	Code    string // the SQLSTATE, such as "28P01" for a wrong password
	Message string
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("postgres: %s failed: %s (SQLSTATE %s)", e.Action, e.Message, e.Code)
}

// Options say where the records are.
type Options struct {
	// Table has the records, in the schema that the server looks at first or in one that is
	// named, as in "auth.records". Empty: "edgeauth".
	Table string

	// Timeout is how long a call may take, with every attempt. Zero: [kv.Timeout].
	Timeout time.Duration
}

// Open connects to the server at a URL, postgres://user:password@host:5432/database, which may
// have the parameters of libpq and of pgxpool, such as pool_max_conns=20 (without it, as many
// as the machine has cores, and at least 4). It fails if the server can't be reached, with what
// package net or crypto/tls says; or if it refuses the client, with a [*ServerError].
//
// Open creates the table if there is none, so that a new program works at once. Where the user
// of the database may not do that, have somebody else execute [Schema] before.
//
// While the server is down, calls fail, and succeed when it is back.
func Open(ctx context.Context, rawURL string, options Options) (*Store, error) {
	parsed, err := url.Parse(rawURL)
	// An @ behind the host belongs to a password with a / or a ? in it.
	if err != nil || parsed.Scheme != "postgres" && parsed.Scheme != "postgresql" ||
		strings.Contains(parsed.Path+parsed.RawQuery+parsed.Fragment, "@") {
		return nil, ErrURL
	}
	settings, err := pgxpool.ParseConfig(rawURL)
	if err != nil {
		return nil, ErrURL
	}
	s := &Store{
		sql:      statementsFor(options.Table),
		timeout:  cmp.Or(options.Timeout, kv.Timeout),
		password: settings.ConnConfig.Password,
	}
	settings.ConnConfig.ConnectTimeout = cmp.Or(settings.ConnConfig.ConnectTimeout, s.timeout)
	if s.pool, err = pgxpool.NewWithConfig(ctx, settings); err != nil {
		return nil, failure("connecting", err, s.password)
	}
	if err := s.create(ctx, options.Table); err != nil {
		s.pool.Close()
		return nil, err
	}
	return s, nil
}

// Close waits for calls that are under way, and closes the connections.
func (s *Store) Close() { s.pool.Close() }

// create creates the table if there is none. It looks first: CREATE TABLE IF NOT EXISTS is
// refused to who may not create tables, even if there is one. Of two who create it at once one
// may be told that it is there now.
func (s *Store) create(ctx context.Context, table string) error {
	look := func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, s.sql.get, [][]byte{})
		return err
	}
	err := s.limit(ctx, "connecting", look)
	var refused *ServerError
	if !errors.As(err, &refused) || refused.Code != "42P01" { // undefined_table
		return err
	}
	err = s.limit(ctx, "creating the table", func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, Schema(table), pgx.QueryExecModeSimpleProtocol)
		return err
	})
	if err != nil && s.limit(ctx, "connecting", look) == nil {
		return nil
	}
	return err
}

// Schema gives the SQL that creates a table; empty: "edgeauth". Keys and values are
// bytes: encode(key, 'escape') shows a key as text. expires is in milliseconds since 1970.
func Schema(table string) string {
	name := strings.Split(cmp.Or(table, "edgeauth"), ".")
	index := pgx.Identifier{name[len(name)-1] + "_expires"}
	return fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %[1]s (
	key bytea PRIMARY KEY,
	value bytea NOT NULL,
	version text NOT NULL,
	ref bytea,
	expires bigint
);
CREATE INDEX IF NOT EXISTS %[2]s ON %[1]s (expires) WHERE expires IS NOT NULL;
`, pgx.Identifier(name).Sanitize(), index.Sanitize())
}

// statements are those of a table.
type statements struct {
	get, lock, commit, remove, sweep, list string
}

func statementsFor(table string) statements {
	text := strings.NewReplacer(
		"{table}", pgx.Identifier(strings.Split(cmp.Or(table, "edgeauth"), ".")).Sanitize(),
		"{now}", "floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint",
	)
	return statements{
		// $1 is the keys.
		get: text.Replace(`
WITH found AS (
	SELECT key, value, version, ref FROM {table}
	WHERE key = ANY($1::bytea[]) AND (expires IS NULL OR expires > {now})
)
SELECT key, value, version, ref FROM found
UNION ALL
SELECT key, value, version, ref FROM {table}
WHERE key = ANY(ARRAY(SELECT ref FROM found WHERE ref IS NOT NULL))
	AND key <> ALL($1::bytea[]) AND (expires IS NULL OR expires > {now})`),

		// $1 is all keys of a commit. Each gets a row that this transaction has written, the
		// absent ones an empty one, in the order of keys: so whoever has a key in common waits
		// here until this transaction ends, and nobody waits in a circle. What the next statement
		// sees is what there is then.
		lock: text.Replace(`
INSERT INTO {table} AS r (key, value, version)
SELECT k, '', '' FROM unnest($1::bytea[]) AS k ORDER BY k
ON CONFLICT (key) DO UPDATE SET version = r.version`),

		// $1 and $2 are the checks, $3 to $6 the writes, $7 their version.
		commit: text.Replace(`
WITH held AS (
	SELECT key, version FROM {table}
	WHERE key = ANY($1::bytea[]) AND (expires IS NULL OR expires > {now})
), failed AS (
	SELECT 1 FROM unnest($1::bytea[], $2::text[]) AS c (key, version) LEFT JOIN held ON held.key = c.key
	WHERE coalesce(held.version, '') <> c.version
), written AS (
	INSERT INTO {table} (key, value, version, ref, expires)
	SELECT w.key, w.value, $7::text, w.ref, w.expires
	FROM unnest($3::bytea[], $4::bytea[], $5::bytea[], $6::bigint[]) AS w (key, value, ref, expires)
	WHERE NOT EXISTS (SELECT 1 FROM failed)
	ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version,
		ref = excluded.ref, expires = excluded.expires
	RETURNING 1
)
SELECT NOT EXISTS (SELECT 1 FROM failed)`),

		// $1 is all keys of a commit, of which what it deletes is empty, and what lock has inserted
		// and commit has not written.
		remove: text.Replace(`DELETE FROM {table} WHERE key = ANY($1::bytea[]) AND value = ''`),

		// $1 is how many. What somebody else is at work on is left to them.
		sweep: text.Replace(`
DELETE FROM {table} WHERE key = ANY(ARRAY(
	SELECT key FROM {table} WHERE expires <= {now} ORDER BY expires LIMIT $1 FOR UPDATE SKIP LOCKED
))`),

		// $1 to $2 is the range, $3 the cursor, $4 how many.
		list: text.Replace(`
SELECT key, value, ref, expires FROM {table}
WHERE key >= $1 AND key < $2 AND key > $3 AND (expires IS NULL OR expires > {now})
ORDER BY key LIMIT $4`),
	}
}

// failure is err as callers see it, without what the client adds about the connection, and
// without the password, whoever has put it there.
func failure(action string, err error, password string) error {
	var answer *pgconn.PgError
	var connecting *pgconn.ConnectError
	switch {
	case errors.As(err, &answer):
		err = &ServerError{action, answer.Code, answer.Message}
	case errors.As(err, &connecting):
		err = fmt.Errorf("postgres: connecting failed: %w", connecting.Unwrap())
	default:
		err = fmt.Errorf("postgres: %s failed: %w", action, err)
	}
	if password != "" && strings.Contains(err.Error(), password) {
		return fmt.Errorf("postgres: %s failed, and the reason is left out because the password is in it", action)
	}
	return err
}
