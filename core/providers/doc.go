// Package providers is the catalogue of OAuth and OpenID Connect providers: a constructor for each
// of those that Auth.js has, with the same id, endpoints, scope, checks and mapping of the profile.
//
//	core.Config{Providers: []core.Provider{
//		providers.GitHub(providers.Client{ID: id, Secret: secret}),
//		providers.Keycloak(providers.Client{Issuer: "https://sso.example.com/realms/main"}),
//	}}
//
// A field of the [Client] that is empty comes from the environment: AUTH_GITHUB_ID,
// AUTH_GITHUB_SECRET, AUTH_KEYCLOAK_ISSUER. Where a provider has a server for each customer, its
// comment says what the issuer is, and core.New asks for it by name.
//
// A constructor gives a plain [core.OAuth], whose fields may be changed before core.New gets it:
//
//	github := providers.GitHub(client)
//	github.Authorization.Params.Set("scope", "read:user user:email read:org")
//
// A program links what it names. A lookup by name, [ByID], links all of them.
//
// A provider that is not here needs no package: an OpenID provider is its issuer, any other its
// three endpoints and a function that makes a user of the profile.
//
//	core.OAuth{ID: "acme", Name: "Acme", OIDC: true, Issuer: "https://id.acme.example"}
//
// # How profiles are read
//
// The user that a profile makes is the one of Auth.js, with two exceptions. A profile whose id is
// missing, or neither text nor a number, is refused: in Auth.js the person would be somebody new at
// every sign-in. And a missing part of a name is left out, where Auth.js writes the word
// "undefined".
package providers
