package core

import (
	"net/http"
	"os"
	"strings"

	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

// environment is what the AUTH_ variables say; fields of the Config win over it.
type environment struct {
	url       *weburl.URL // AUTH_URL, nil if unset or no URL: nonsense is ignored
	secrets   []string    // newest first
	trustHost bool
}

func readEnvironment(getenv func(string) string) environment {
	var env environment
	if u, ok := weburl.Parse(getenv("AUTH_URL")); ok {
		env.url = u
	}
	for _, name := range [...]string{"AUTH_SECRET_3", "AUTH_SECRET_2", "AUTH_SECRET_1", "AUTH_SECRET"} {
		if secret := getenv(name); secret != "" {
			env.secrets = append(env.secrets, secret)
		}
	}
	env.trustHost = isTrue(getenv("AUTH_TRUST_HOST")) || getenv("VERCEL") != "" || getenv("CF_PAGES") != ""
	return env
}

func isTrue(value string) bool { return value == "true" || value == "1" }

// providerVariable is the name of a provider's variable: AUTH_MY_IDP_ID for "my-idp" and "ID".
func providerVariable(id, suffix string) string {
	return "AUTH_" + strings.ToUpper(strings.ReplaceAll(id, "-", "_")) + "_" + suffix
}

// SetEnvDefaults gives the configuration with what the environment says filled in where it
// says nothing itself: the secrets, the base path, the redirect proxy, TrustHost, and the
// client ids, secrets and issuers of providers. New does the same; this is for frameworks
// that need to know the outcome. A nil getenv is os.Getenv.
func SetEnvDefaults(getenv func(string) string, config Config) Config {
	if getenv == nil {
		getenv = os.Getenv
	}
	config.Getenv = getenv
	a := configure(config)
	config.Secret = a.secrets
	config.BasePath = a.basePath
	config.RedirectProxyURL = or(config.RedirectProxyURL, getenv("AUTH_REDIRECT_PROXY_URL"))
	if config.TrustHost == Auto && (a.trustHost || a.env.url != nil) {
		config.TrustHost = On
	}
	config.Providers = append([]Provider(nil), config.Providers...)
	for i, p := range config.Providers {
		if _, ok := p.(OAuth); ok {
			config.Providers[i] = withEnvironment(p.(OAuth), getenv)
		}
	}
	return config
}

// withEnvironment fills in the client of a provider from its variables.
func withEnvironment(p OAuth, getenv func(string) string) OAuth {
	p.ClientID = or(p.ClientID, getenv(providerVariable(p.ID, "ID")))
	p.ClientSecret = or(p.ClientSecret, getenv(providerVariable(p.ID, "SECRET")))
	p.Issuer = or(p.Issuer, getenv(providerVariable(p.ID, "ISSUER")))
	return p
}

// ActionURL is the public URL of an action for the site that a request came to: under
// AUTH_URL, else under what X-Forwarded-Host and -Proto say, else the request's own host and
// protocol ("http" or "https"). An AUTH_URL with a path of its own keeps it only if basePath
// is empty or "/". It gives ErrUntrustedHost if none of them makes an http URL.
func ActionURL(action Action, protocol string, r *http.Request, getenv func(string) string, basePath string) (string, error) {
	u, ok := weburl.Parse(or(getenv("AUTH_URL"), getenv("NEXTAUTH_URL")))
	if ok && basePath != "" && basePath != "/" {
		u.Path = "/"
	}
	if !ok {
		host := or(r.Header.Get("X-Forwarded-Host"), r.Host)
		scheme := or(or(r.Header.Get("X-Forwarded-Proto"), protocol), "https")
		u, ok = weburl.Parse(strings.TrimSuffix(scheme, ":") + "://" + host)
	}
	if ok && (u.Scheme == "http" || u.Scheme == "https") {
		root := strings.TrimSuffix(u.String(), "/")
		if basePath != "" {
			root += "/" + strings.TrimSuffix(strings.TrimPrefix(basePath, "/"), "/") // "/" gives two slashes, as in the reference (fact 118)
		}
		if u, ok = weburl.Parse(root + "/" + string(action)); ok {
			return u.String(), nil
		}
	}
	return "", fail(ErrUntrustedHost, "the request's host and protocol make no URL", nil)
}
