// Program authstore moves what is in a store of package kvadapter: to a file and back, to another
// store, or in from the tables of Auth.js. It says how it is used when it is started without
// arguments; kvadapter/transfer/README.md has examples.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/kvadapter/bolt"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/postgres"
	"github.com/edgeauth/edgeauth/kvadapter/redis"
	"github.com/edgeauth/edgeauth/kvadapter/transfer"
	"github.com/edgeauth/edgeauth/kvadapter/transfer/authjs"
)

const usage = `authstore moves users, accounts, sessions and passkeys.

  authstore export   -from STORE [-o FILE]    all records as NDJSON; -o goes on with a file that was cut off
  authstore import   -to STORE [-i FILE]      writes them; may be run again with the same file
  authstore authjs   -to STORE -users FILE …  the tables of Auth.js's SQL adapters, as CSV or NDJSON
  authstore bookmark -from URL [-at TIME]     names the state of a Durable Object at a time, or now
  authstore restore  -to URL -bookmark TEXT   goes back there; prints the bookmark that undoes it

STORE is a file of kvadapter/bolt, the URL of a Redis or Postgres server, or the https URL of an app's
transfer.Handler, whose token is in AUTH_TRANSFER_TOKEN. env:NAME is what the environment variable
NAME says, which keeps a password out of the list of processes.

authstore COMMAND -h lists the other options.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "authstore:", err)
		os.Exit(1)
	}
}

// A command is what a command line says.
type command struct {
	name                               string
	store, storeName, prefix           string
	in, out, existing, rejects         string
	skip                               int
	at, bookmark, extra                string
	users, accounts, sessions          string
	verificationTokens, authenticators string
	stdin                              io.Reader
	stdout, log                        io.Writer
	logged                             time.Time
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, log io.Writer) error {
	c := &command{stdin: stdin, stdout: stdout, log: log}
	if len(args) > 0 {
		c.name = args[0]
	}
	flags := flag.NewFlagSet("authstore "+c.name, flag.ContinueOnError)
	flags.SetOutput(log)
	where := "to"
	if c.name == "export" || c.name == "bookmark" {
		where = "from"
	}
	flags.StringVar(&c.store, where, "", "the `STORE`")
	records := func() {
		flags.StringVar(&c.prefix, "prefix", "", "`KeyPrefix` of kvadapter.Options")
		flags.StringVar(&c.storeName, "name", "", "`Prefix` in Redis, or table in Postgres; empty: edgeauth")
	}
	var do func(context.Context) error
	switch c.name {
	case "export":
		do = c.export
		records()
		flags.StringVar(&c.out, "o", "", "`FILE` to write to; empty: standard output")
	case "import":
		do = c.load
		records()
		flags.StringVar(&c.in, "i", "", "`FILE` to read; empty: standard input")
		flags.StringVar(&c.existing, "existing", "", "what becomes of a record that is in the store with another value: `skip` or overwrite; empty: the import ends")
		flags.IntVar(&c.skip, "skip", 0, "`lines` to pass over, which an import that was cut off has done")
		flags.StringVar(&c.rejects, "rejects", "rejected", "`FOLDER` for lines that can't be read")
	case "authjs":
		do = c.authjs
		records()
		flags.StringVar(&c.users, "users", "", "`FILE` of the table of users")
		flags.StringVar(&c.accounts, "accounts", "", "`FILE` of the table of accounts")
		flags.StringVar(&c.sessions, "sessions", "", "`FILE` of the table of sessions")
		flags.StringVar(&c.verificationTokens, "verification-tokens", "", "`FILE` of the table of verification tokens")
		flags.StringVar(&c.authenticators, "authenticators", "", "`FILE` of the table of authenticators")
		flags.StringVar(&c.extra, "extra", "", "`columns` of your own to keep in Extra, with commas between them")
		flags.StringVar(&c.rejects, "rejects", "rejected", "`FOLDER` for rows that can't go in")
	case "bookmark":
		do = c.mark
		flags.StringVar(&c.at, "at", "", "`TIME` such as 2026-01-31T12:00:00Z; empty: now")
	case "restore":
		do = c.restore
		flags.StringVar(&c.bookmark, "bookmark", "", "the `TEXT` that bookmark printed")
	default:
		fmt.Fprint(log, usage)
		return flag.ErrHelp
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() > 0 || c.store == "" {
		return fmt.Errorf("want -%s STORE, and options alone", where)
	}
	if name, ok := strings.CutPrefix(c.store, "env:"); ok {
		if c.store = os.Getenv(name); c.store == "" {
			return fmt.Errorf("the environment variable %s is empty", name)
		}
	}
	return do(ctx)
}

// client gives the client of a handler, if the store is behind one.
func (c *command) client() (*transfer.Client, error) {
	if !strings.HasPrefix(c.store, "https://") && !strings.HasPrefix(c.store, "http://") {
		return nil, nil
	}
	return transfer.NewClient(c.store, os.Getenv("AUTH_TRANSFER_TOKEN"))
}

// A listStore is any of the stores that this program opens.
type listStore interface {
	kv.Store
	kv.Lister
}

// open opens the store. mayBeNew is whether a file that isn't there is made.
func (c *command) open(ctx context.Context, mayBeNew bool) (store listStore, closeStore func() error, err error) {
	scheme, _, isURL := strings.Cut(c.store, "://")
	switch {
	case scheme == "redis" || scheme == "rediss":
		s, err := redis.Open(c.store, redis.Options{Prefix: c.storeName})
		if err != nil {
			return nil, nil, err
		}
		return s, func() error { s.Close(); return nil }, nil
	case scheme == "postgres" || scheme == "postgresql":
		s, err := postgres.Open(ctx, c.store, postgres.Options{Table: c.storeName})
		if err != nil {
			return nil, nil, err
		}
		return s, func() error { s.Close(); return nil }, nil
	case isURL:
		return nil, nil, errors.New("a store is a file, or the URL of redis, rediss, postgres or https")
	}
	if _, err := os.Stat(c.store); err != nil && !mayBeNew {
		return nil, nil, err
	}
	s, err := bolt.Open(c.store, bolt.Options{})
	if err != nil {
		return nil, nil, err
	}
	return s, s.Close, nil
}

// say tells how far it is, once a second.
func (c *command) say(format string, a ...any) {
	if now := time.Now(); now.Sub(c.logged) >= time.Second {
		c.logged = now
		fmt.Fprintf(c.log, format+"\n", a...)
	}
}

func (c *command) export(ctx context.Context) (err error) {
	options := transfer.ExportOptions{Prefix: c.prefix, Progress: func(n int64) { c.say("%d records", n) }}
	client, err := c.client()
	if err != nil {
		return err
	}
	var from kv.Lister = client
	if client == nil {
		store, closeStore, err := c.open(ctx, false)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closeStore()) }()
		from = store
	}
	out := c.stdout
	if c.out != "" {
		file, err := os.OpenFile(c.out, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Sync(), file.Close()) }()
		size, cursor, records, err := transfer.LastPage(file)
		if err != nil {
			return err
		}
		if size > 0 && cursor == "" {
			return fmt.Errorf("%s is there already, and complete", c.out)
		}
		if _, err = file.Seek(size, io.SeekStart); err != nil {
			return err
		}
		if err := file.Truncate(size); err != nil {
			return err
		}
		options.Cursor, options.Records, out = cursor, records, file
	}
	records, err := transfer.Export(ctx, from, out, options)
	if err == nil {
		fmt.Fprintf(c.log, "%d records, complete\n", records)
	}
	return err
}

func (c *command) load(ctx context.Context) (err error) {
	in := c.stdin
	if c.in != "" {
		file, err := os.Open(c.in)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	rejects := rejectFiles{folder: c.rejects, log: c.log}
	defer func() { err = errors.Join(err, rejects.close()) }()
	options := transfer.ImportOptions{
		Prefix: c.prefix, Existing: transfer.Existing(c.existing), SkipLines: c.skip, Rejected: rejects.add,
		Progress: func(done transfer.Imported) { c.say("%d lines", done.Lines) },
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	var done transfer.Imported
	if client != nil {
		done, err = client.Import(ctx, in, options)
	} else {
		store, closeStore, errOpen := c.open(ctx, true)
		if errOpen != nil {
			return errOpen
		}
		defer func() { err = errors.Join(err, closeStore()) }()
		done, err = transfer.Import(ctx, store, in, options)
	}
	fmt.Fprintf(c.log, "%d lines: %d records written, %d there already, %d skipped, %d have ended, %d lines rejected\n",
		done.Lines, done.Written, done.Same, done.Skipped, done.Expired, done.Rejected)
	if err == nil && !done.Complete {
		err = errors.New("the file has no last page: it was cut off, and what is missing isn't in the store")
	}
	return err
}

func (c *command) authjs(ctx context.Context) (err error) {
	if client, err := c.client(); client != nil || err != nil {
		return errors.New("import the tables into a file, and that with export and import into the app's store")
	}
	var tables authjs.Tables
	for _, t := range []struct {
		name string
		in   *io.Reader
	}{
		{c.users, &tables.Users},
		{c.accounts, &tables.Accounts},
		{c.sessions, &tables.Sessions},
		{c.verificationTokens, &tables.VerificationTokens},
		{c.authenticators, &tables.Authenticators},
	} {
		if t.name == "" {
			continue
		}
		file, err := os.Open(t.name)
		if err != nil {
			return err
		}
		defer file.Close()
		*t.in = file
	}
	store, closeStore, err := c.open(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	rejects := rejectFiles{folder: c.rejects, log: c.log}
	defer func() { err = errors.Join(err, rejects.close()) }()
	options := authjs.Options{
		Prefix: c.prefix, Rejected: rejects.add,
		Progress: func(n authjs.Count) { c.say("%s: %d rows", n.Table, n.Rows) },
	}
	if c.extra != "" {
		options.Extra = strings.Split(c.extra, ",")
	}
	counts, err := authjs.Import(ctx, store, tables, options)
	for _, n := range counts {
		fmt.Fprintf(c.log, "%s: %d rows, %d stored, %d have ended, %d rejected\n", n.Table, n.Rows, n.Stored, n.Expired, n.Rejected)
		if len(n.Ignored) > 0 {
			fmt.Fprintf(c.log, "%s: columns left out: %s\n", n.Table, strings.Join(n.Ignored, ", "))
		}
	}
	return err
}

func (c *command) mark(ctx context.Context) error {
	client, err := c.rewinder()
	if err != nil {
		return err
	}
	var at time.Time
	if c.at != "" {
		if at, err = time.Parse(time.RFC3339, c.at); err != nil {
			return errors.New("-at wants a time such as 2026-01-31T12:00:00Z")
		}
	}
	bookmark, err := client.Bookmark(ctx, at)
	if err == nil {
		fmt.Fprintln(c.stdout, bookmark)
	}
	return err
}

func (c *command) restore(ctx context.Context) error {
	client, err := c.rewinder()
	if err != nil {
		return err
	}
	before, err := client.Restore(ctx, c.bookmark)
	if err == nil {
		fmt.Fprintln(c.stdout, before)
	}
	return err
}

func (c *command) rewinder() (*transfer.Client, error) {
	client, err := c.client()
	if err == nil && client == nil {
		err = errors.New("only a Durable Object has bookmarks: want the URL of the app's transfer.Handler")
	}
	return client, err
}

// rejectFiles keeps lines that could not go in, in a file for each table. Only their owner can read
// these, since the lines may hold tokens.
type rejectFiles struct {
	folder string
	log    io.Writer
	files  map[string]*os.File
}

// add keeps a line, and says which and why.
func (f *rejectFiles) add(r transfer.Reject) error {
	name := "records"
	if r.Table != "" {
		name = strings.ReplaceAll(r.Table, " ", "-")
	}
	file := f.files[name]
	if file == nil {
		if err := os.MkdirAll(f.folder, 0o700); err != nil {
			return err
		}
		var err error
		if file, err = os.OpenFile(filepath.Join(f.folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("%w: take away what is left of an earlier import, or choose another -rejects", err)
			}
			return err
		}
		if f.files == nil {
			f.files = map[string]*os.File{}
		}
		f.files[name] = file
		if _, err := file.Write(r.Header); err != nil {
			return err
		}
	}
	fmt.Fprintf(f.log, "%s, line %d: %s\n", name, r.Line, r.Reason)
	_, err := file.Write(append(r.Text, '\n'))
	return err
}

func (f *rejectFiles) close() (err error) {
	for _, file := range f.files {
		err = errors.Join(err, file.Close())
	}
	return err
}
