// Command worker is an auth endpoint that needs no Go from whoever deploys it: all its
// settings come from the environment.
//
//	AUTH_SECRET              at least 32 random characters; _1 to _3 are newer ones
//	AUTH_URL                 the site's public URL; its path is the base path
//	AUTH_TRUST_HOST          true: the Host header says where the site is
//	AUTH_BASE_PATH           default: the path of AUTH_URL, else /auth
//	AUTH_PROVIDERS           ids, separated by commas: google,my-idp,resend,passkey
//	AUTH_<ID>_ID, _SECRET    what the provider calls this client
//	AUTH_<ID>_ISSUER         its issuer URL, if it isn't in the catalogue or has one for each customer
//	AUTH_<ID>_NAME           shown on the button; default: the catalogue's, or the id
//	AUTH_<ID>_KEY, _FROM     of a mail service: its API key, and the sender
//	AUTH_<ID>_CONFIRM        true: a link leads to a button, so that scanners don't use it up
//	AUTH_<ID>_CODE           true: six digits instead of a link
//	AUTH_MAILGUN_REGION, AUTH_LOOPS_TRANSACTIONAL_ID, AUTH_BUNGIE_KEY, AUTH_NETSUITE_USERINFO
//	                         what only these providers need
//	AUTH_SESSION_STRATEGY    jwt, the default, or database
//	AUTH_SESSION_MAX_AGE     seconds; default 30 days
//	AUTH_SESSION_UPDATE_AGE  seconds; default 1 day
//	AUTH_PAGES_SIGN_IN, _SIGN_OUT, _ERROR, _VERIFY_REQUEST, _NEW_USER   paths of pages of your own
//	AUTH_THEME_COLOR_SCHEME  light, dark or auto
//	AUTH_THEME_LOGO, _BRAND_COLOR, _BUTTON_TEXT
//	AUTH_DO_LOCATION         where the Durable Object is made: wnam, enam, sam, weur, eeur, apac, oc, afr or me;
//	                         default: near whoever is first
//	AUTH_DO_JURISDICTION     eu or fedramp: the Durable Object stays there. Set it before the first
//	                         sign-in: another one is another, empty object
//	AUTH_TRANSFER_TOKEN      at least 32 random characters: whoever has them exports, imports and
//	                         restores everything at /transfer; set it only while that is needed
//	AUTH_DEBUG               true: log each step
//	AUTH_SERVER_TIMING       true: each answer tells what it waited for, in a Server-Timing header
//
// The ids are those of package providers; resend, sendgrid, postmark, mailgun, forwardemail and
// loops, of package mail; and passkey. Any other one is an OpenID provider with its issuer. A
// provider whose settings are incomplete is left out, and the log says which are missing.
//
// With jwt and OAuth nothing is stored. With database, and for mail and passkeys, the records are
// in the Durable Object class bound as AUTH_DO or, where that is not bound, in the D1 database
// bound as AUTH_DB. If there is a Workers KV namespace bound as AUTH_KV, it holds copies of sessions
// near those who read them; a session that has ended may be seen there for a minute. wrangler.toml
// has the class. On a host for wasip1 these are its store and cache of that name; a native program
// has them in files, in the folder AUTH_STORE, or in memory if that is not set.
//
// A setting or binding that is missing or contradicts another one is named in the log with
// its fix, and the routes answer with the error page until it is mended.
package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/transfer"
)

func main() {
	config, leftOut, err := fromEnvironment(edge.Getenv)
	for _, why := range leftOut {
		fmt.Fprintln(os.Stderr, why)
	}
	auth, newErr := core.New(config)
	handler, transferErr := withTransfer(edge.Getenv, auth)
	if err = errors.Join(err, newErr, transferErr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		edge.Serve(core.Misconfigured(config, err))
		return
	}
	edge.Serve(handler)
}

// withTransfer opens the store to the program kvadapter/transfer/authstore at /transfer, while
// AUTH_TRANSFER_TOKEN is set.
func withTransfer(getenv func(string) string, auth http.Handler) (http.Handler, error) {
	token := getenv("AUTH_TRANSFER_TOKEN")
	if token == "" {
		return auth, nil
	}
	s := settings{getenv: getenv}
	store := s.store()
	records, err := transfer.Handler(store, token)
	if err != nil {
		s.bad("AUTH_TRANSFER_TOKEN", "must have at least 32 characters: openssl rand -hex 32")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/transfer" {
			records.ServeHTTP(w, r)
			return
		}
		auth.ServeHTTP(w, r)
	}), errors.Join(s.errs...)
}

// fromEnvironment reads the configuration. The error joins one *SettingError for each
// setting that can't be used, and what edge.Check says; what core itself reads (AUTH_SECRET,
// AUTH_URL and AUTH_TRUST_HOST) is left to core.New. leftOut has an *IncompleteError for each
// provider that is missing.
func fromEnvironment(getenv func(string) string) (config core.Config, leftOut []error, err error) {
	s := settings{getenv: getenv}
	config = core.Config{
		BasePath: getenv("AUTH_BASE_PATH"),
		Session: core.SessionOptions{
			Strategy:  core.Strategy(getenv("AUTH_SESSION_STRATEGY")),
			MaxAge:    s.seconds("AUTH_SESSION_MAX_AGE", 1),
			UpdateAge: s.seconds("AUTH_SESSION_UPDATE_AGE", 0),
		},
		Pages: core.Pages{
			SignIn:        s.path("AUTH_PAGES_SIGN_IN"),
			SignOut:       s.path("AUTH_PAGES_SIGN_OUT"),
			Error:         s.path("AUTH_PAGES_ERROR"),
			VerifyRequest: s.path("AUTH_PAGES_VERIFY_REQUEST"),
			NewUser:       s.path("AUTH_PAGES_NEW_USER"),
		},
		Theme: core.Theme{
			ColorScheme: s.oneOf("AUTH_THEME_COLOR_SCHEME", "auto", "light", "dark"),
			Logo:        getenv("AUTH_THEME_LOGO"),
			BrandColor:  getenv("AUTH_THEME_BRAND_COLOR"),
			ButtonText:  getenv("AUTH_THEME_BUTTON_TEXT"),
		},
		Debug:        s.oneOf("AUTH_DEBUG", "true", "false") == "true",
		ServerTiming: s.oneOf("AUTH_SERVER_TIMING", "true", "false") == "true",
		Transport:    edge.Transport,
		Getenv:       getenv,
	}
	config.Providers, leftOut = s.providers()
	if config.Session.Strategy == "" {
		config.Session.Strategy = core.StrategyJWT
	}
	if config.Session.Strategy == core.StrategyDatabase || s.needsRecords {
		config.Adapter = s.adapter()
	}
	config.Experimental.EnableWebAuthn = s.hasPasskeys
	return config, leftOut, errors.Join(s.errs...)
}

// store is that of the platform, if there is one.
func (s *settings) store() kvadapter.Store {
	store := edge.Store("AUTH_DO", edge.StoreOptions{
		Location:     s.oneOf("AUTH_DO_LOCATION", "wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"),
		Jurisdiction: s.oneOf("AUTH_DO_JURISDICTION", "eu", "fedramp"),
	})
	if err := edge.Check(store); err != nil {
		store = edge.Store("AUTH_DB")
		if edge.Check(store) != nil {
			s.errs = append(s.errs, err)
		}
	}
	return store
}

// adapter keeps the records in the store of the platform.
func (s *settings) adapter() *core.Adapter {
	options := kvadapter.Options{WaitUntil: edge.WaitUntil}
	if cache := edge.KV("AUTH_KV"); edge.Check(cache) == nil {
		options.Cache = cache
	}
	return kvadapter.New(s.store(), options)
}

// A SettingError is a variable of the environment that can't be used as it is.
type SettingError struct {
	Name string // of the variable
	Fix  string
}

func (e *SettingError) Error() string { return "worker: " + e.Name + ": " + e.Fix }

type settings struct {
	getenv       func(string) string
	errs         []error
	needsRecords bool // a provider needs an adapter, whatever the strategy
	hasPasskeys  bool
}

func (s *settings) bad(name, fix string) { s.errs = append(s.errs, &SettingError{name, fix}) }

// seconds reads a whole number of seconds that is not below least. Zero means always,
// which core spells as a negative duration.
func (s *settings) seconds(name string, least int) time.Duration {
	text := s.getenv(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	const most = 400 * 24 * 60 * 60 // browsers keep no cookie for longer
	if err != nil || n < least || n > most {
		s.bad(name, fmt.Sprintf("must be a whole number of seconds from %d to %d", least, most))
		return 0
	}
	if n == 0 {
		return -1
	}
	return time.Duration(n) * time.Second
}

func (s *settings) path(name string) string {
	path := s.getenv(name)
	if path != "" && (path[0] != '/' || strings.HasPrefix(path, "//")) {
		s.bad(name, "must be a path of this site, beginning with one slash")
		return ""
	}
	return path
}

func (s *settings) oneOf(name string, allowed ...string) string {
	value := s.getenv(name)
	if value == "" {
		return ""
	}
	for _, a := range allowed {
		if value == a {
			return value
		}
	}
	s.bad(name, "must be one of "+strings.Join(allowed, ", "))
	return ""
}
