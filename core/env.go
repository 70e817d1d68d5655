package core

import (
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
