package providers_test

import (
	"context"
	"fmt"
	"net/url"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/providers"
)

// Two providers of the catalogue, one of them with another scope, and two that it doesn't have: an
// OpenID provider is its issuer, any other one its endpoints and what its profile means.
func Example() {
	github := providers.GitHub(providers.Client{ID: "id", Secret: "secret"})
	github.Authorization.Params.Set("scope", "read:user user:email read:org")

	acme := core.OAuth{ID: "acme", Name: "Acme", OIDC: true, Issuer: "https://id.acme.example"}

	gitea := core.OAuth{
		ID: "gitea", Name: "Gitea",
		Authorization: core.Endpoint{URL: "https://git.example.com/login/oauth/authorize", Params: url.Values{"scope": {"read:user"}}},
		Token:         core.Endpoint{URL: "https://git.example.com/login/oauth/access_token"},
		UserInfo:      core.Endpoint{URL: "https://git.example.com/api/v1/user"},
		Profile: func(_ context.Context, p core.Profile, _ *core.Account) (*core.User, error) {
			return &core.User{ID: p.String("login"), Name: p.String("full_name"), Email: p.String("email"), Image: p.String("avatar_url")}, nil
		},
	}

	env := map[string]string{ // the clients that are not named above
		"AUTH_SECRET":    "at least 32 random characters, as openssl rand -hex 32 makes them",
		"AUTH_GOOGLE_ID": "id", "AUTH_GOOGLE_SECRET": "secret",
		"AUTH_ACME_ID": "id", "AUTH_ACME_SECRET": "secret",
		"AUTH_GITEA_ID": "id", "AUTH_GITEA_SECRET": "secret",
	}
	_, err := core.New(core.Config{
		Providers: []core.Provider{github, providers.Google(providers.Client{}), acme, gitea},
		TrustHost: core.On,
		Getenv:    func(name string) string { return env[name] },
	})
	fmt.Println(err)
	// Output: <nil>
}

// A provider whose name comes from somewhere else, such as the environment of a program.
func ExampleByID() {
	for _, id := range []string{"github", "mastodon", "acme"} {
		p, ok := providers.ByID(id, providers.Client{})
		fmt.Println(ok, p.Name)
	}
	// Output:
	// true GitHub
	// true Mastodon
	// false
}
