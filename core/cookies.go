package core

import (
	"errors"
	"strings"
	"time"

	"github.com/edgeauth/edgeauth/core/internal/cookie"
	"github.com/edgeauth/edgeauth/core/internal/jwe"
)

// A sealedCookie is one of the handler's cookies with its attributes and, where its value
// is sealed, the keys, which are bound to the cookie's name.
type sealedCookie struct {
	name     string
	opts     cookie.Options
	ring     *jwe.Ring
	lifetime time.Duration // of a check
}

// with gives the cookie with a value.
func (c *sealedCookie) with(value string) cookie.Cookie {
	return cookie.Cookie{Name: c.name, Value: value, Options: c.opts}
}

// cleared gives the cookie that makes a browser forget it.
func (c *sealedCookie) cleared() cookie.Cookie {
	out := c.with("")
	out.MaxAge = -1
	return out
}

// crossSite gives the cookie as it must be to come back with a POST from the provider.
func (c *sealedCookie) crossSite() *sealedCookie {
	out := *c
	out.opts.SameSite, out.opts.Secure = "none", true
	return &out
}

// cookieSet is the handler's cookies for one scheme: protocol facts 49 and 50.
type cookieSet struct {
	session, callbackURL, csrf, pkce, state, nonce, challenge, emailCode sealedCookie
}

func newCookieSet(config *Config, secrets []string, secure bool) cookieSet {
	prefix, hostPrefix := "", ""
	if secure {
		prefix, hostPrefix = "__Secure-", "__Host-"
	}
	sessionSecrets := config.JWT.Secret
	if len(sessionSecrets) == 0 {
		sessionSecrets = secrets
	}
	plain := func(name string, custom Cookie) sealedCookie {
		return sealedCookie{name: or(custom.Name, name), opts: custom.options(secure)}
	}
	sealed := func(name string, custom Cookie, secrets []string) sealedCookie {
		c := plain(name, custom)
		c.ring = jwe.NewRing(secrets, c.name)
		return c
	}
	check := func(name string, custom Cookie) sealedCookie {
		c := sealed(name, custom, secrets)
		if c.lifetime = custom.MaxAge; c.lifetime == 0 {
			c.lifetime = checkMaxAge
		}
		c.opts.MaxAge = int(c.lifetime / time.Second)
		return c
	}
	use := &config.Cookies
	set := cookieSet{
		session:     sealed(prefix+"authjs.session-token", use.SessionToken, sessionSecrets),
		callbackURL: plain(prefix+"authjs.callback-url", use.CallbackURL),
		csrf:        plain(hostPrefix+"authjs.csrf-token", use.CSRFToken),
		pkce:        check(prefix+"authjs.pkce.code_verifier", use.PKCECodeVerifier),
		state:       check(prefix+"authjs.state", use.State),
		nonce:       check(prefix+"authjs.nonce", use.Nonce),
		challenge:   check(prefix+"authjs.challenge", use.WebAuthnChallenge),
		emailCode:   check(prefix+"authjs.email-code", use.EmailCode),
	}
	if use.Nonce.MaxAge == 0 {
		set.nonce.opts.MaxAge = 0 // the reference gives the nonce an Expires only
	}
	return set
}

// options are the attributes of a cookie with its defaults filled in.
func (c *Cookie) options(secure bool) cookie.Options {
	out := cookie.Options{
		HTTPOnly: c.HTTPOnly != Off, Secure: secure, SameSite: or(strings.ToLower(c.SameSite), "lax"),
		Path: or(c.Path, "/"), Domain: c.Domain, Partitioned: c.Partitioned,
	}
	if c.Secure != Auto {
		out.Secure = c.Secure == On
	}
	return out
}

// check names what is wrong with a cookie that this override has made, if anything is.
func (c *Cookie) check(made *sealedCookie) error {
	name, opts := made.name, made.opts
	switch {
	case !cookie.ValidName(name):
		return errors.New("the name has a character that no cookie's name may have")
	case c.Domain != "" && !cookie.ValidDomain(c.Domain):
		return errors.New("the domain is no domain")
	case opts.Path[0] != '/' || !cookie.ValidPath(opts.Path):
		return errors.New("the path is no path")
	case hasPrefix(name, "__Host-") && (opts.Domain != "" || opts.Path != "/" || !opts.Secure):
		return errors.New("the prefix __Host- of its name demands Secure, the path / and no domain")
	case hasPrefix(name, "__Secure-") && !opts.Secure:
		return errors.New("the prefix __Secure- of its name demands Secure")
	case (opts.SameSite == "none" || opts.Partitioned) && !opts.Secure:
		return errors.New("SameSite none and Partitioned demand Secure")
	case c.MaxAge < 0:
		return errors.New("MaxAge is negative")
	}
	switch opts.SameSite {
	case "lax", "strict", "none":
		return nil
	}
	return errors.New("SameSite is none of lax, strict and none")
}

// hasPrefix reports whether a name has a prefix that browsers know, in whatever case.
func hasPrefix(name, prefix string) bool {
	return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}

// checkCookies finds what is wrong with the overrides. The attributes are those on an https
// site, unless the configuration says that cookies are not Secure.
func (a *Auth) checkCookies() (errs []error) {
	made := &a.secure
	if a.config.UseSecureCookies == Off {
		made = &a.plain
	}
	use := &a.config.Cookies
	fields := map[string]string{} // by the cookie's name
	for _, one := range [...]struct {
		field  string
		custom *Cookie
		made   *sealedCookie
	}{
		{"SessionToken", &use.SessionToken, &made.session}, {"CallbackURL", &use.CallbackURL, &made.callbackURL},
		{"CSRFToken", &use.CSRFToken, &made.csrf}, {"PKCECodeVerifier", &use.PKCECodeVerifier, &made.pkce},
		{"State", &use.State, &made.state}, {"Nonce", &use.Nonce, &made.nonce},
		{"WebAuthnChallenge", &use.WebAuthnChallenge, &made.challenge},
		{"EmailCode", &use.EmailCode, &made.emailCode},
	} {
		err := one.custom.check(one.made)
		if other, taken := fields[one.made.name]; err == nil && taken {
			err = errors.New("Cookies." + other + " has the same name")
		}
		if fields[one.made.name] = one.field; err != nil {
			errs = append(errs, fail(ErrInvalidConfig, "Config.Cookies."+one.field, err))
		}
	}
	return errs
}
