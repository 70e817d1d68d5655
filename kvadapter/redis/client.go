package redis

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/edgeauth/edgeauth/kvadapter/kv"
)

var (
	// ErrURL is the error for a URL that is none of a server. It doesn't say what is wrong
	// with it, since that may be the password.
	ErrURL = errors.New("redis: want a URL such as redis://user:password@host:6379/0, or rediss:// for TLS, or unix:///path; special characters of a password must be percent-encoded")

	// ErrPrefix is the error for a prefix with a brace.
	ErrPrefix = errors.New("redis: a prefix has no braces")
)

// A ServerError is what the server answered instead of doing what it was told, such as
// "OOM command not allowed when used memory > 'maxmemory'." or "NOAUTH Authentication
// required.", without the arguments of the command.
type ServerError struct {
	Command string // "connecting", "reading", "writing" or "listing"
	Message string // begins with a code in capitals
}

func (e *ServerError) Error() string { return "redis: " + e.Command + " failed: " + e.Message }

// Open connects to the server at a URL: redis://user:password@host:6379/0, rediss:// for TLS,
// or unix:///path/to/socket?db=0; or to a cluster by one of its nodes, or more of them:
// redis://node1:6379?addr=node2:6379. It fails if the server can't be reached, with what package
// net or crypto/tls says; or if it refuses the client, with a [*ServerError].
//
// While the server is down, calls fail after at most a few attempts to reach it, and succeed
// when it is back.
func Open(rawURL string, options Options) (*Store, error) {
	parsed, err := url.Parse(rawURL)
	// An @ behind the host belongs to a password with a / or a ? in it.
	if err != nil || strings.Contains(parsed.Path+parsed.RawQuery+parsed.Fragment, "@") && parsed.Scheme != "unix" {
		return nil, ErrURL
	}
	settings, err := rueidis.ParseURL(rawURL)
	if err != nil {
		return nil, ErrURL
	}
	settings.DisableCache = true // nothing here uses it
	settings.RetryDelay = retryDelay
	settings.ForceSingleClient = parsed.Scheme == "unix"
	if strings.ContainsAny(options.Prefix, "{}") {
		return nil, ErrPrefix
	}
	client, err := rueidis.NewClient(settings)
	if err != nil {
		return nil, connectFailure(err, settings.Password)
	}
	return New(client, options)
}

// New gives a store over a client, which the store's Close closes. The client must not send
// commands to replicas: what they answer may be old.
func New(client rueidis.Client, options Options) (*Store, error) {
	if strings.ContainsAny(options.Prefix, "{}") {
		return nil, ErrPrefix
	}
	return &Store{
		client:  client,
		prefix:  "{" + cmp.Or(options.Prefix, "edgeauth") + "}",
		timeout: cmp.Or(options.Timeout, kv.Timeout),
	}, nil
}

// Close waits for calls that are under way, and closes the connections.
func (s *Store) Close() { s.client.Close() }

// retryDelay has reads attempted three times, which outlives a connection that was cut, and
// not as long as the context allows, which may be for ever.
func retryDelay(attempts int, _ rueidis.Completed, _ error) time.Duration {
	if attempts >= 3 {
		return -1
	}
	return time.Duration(attempts) * 10 * time.Millisecond
}

// connectFailure doesn't trust others to leave the password out of their errors.
func connectFailure(err error, password string) error {
	err = failure("connecting", err)
	if password != "" && strings.Contains(err.Error(), password) {
		return errors.New("redis: connecting failed, and the reason is left out because the password is in it")
	}
	return err
}

// failure is err as callers see it. A server that doesn't know a command repeats its
// arguments: HELLO has the password, others have keys and values.
func failure(command string, err error) error {
	if err == nil {
		return nil
	}
	if answer, ok := rueidis.IsRedisErr(err); ok {
		message, _, _ := strings.Cut(answer.Error(), ", with args beginning with")
		return &ServerError{command, message}
	}
	return fmt.Errorf("redis: %s failed: %w", command, err)
}
