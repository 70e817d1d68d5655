package core

import (
	"net/http"
	"strings"

	"github.com/edgeauth/edgeauth/core/internal/page"
	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

// signInPage answers GET signin. With a provider in the path it starts nothing (fact 8).
func (x *exchange) signInPage() (reply, error) {
	if x.provider != nil {
		return reply{}, x.unknownAction()
	}
	code := x.queryText("error")
	if custom := x.config.Pages.SignIn; custom != "" {
		url := withQuery(custom, weburl.Query{{Name: "callbackUrl", Value: x.callbackURL}})
		if first, _ := x.query.Get("error"); first != "" {
			url += "&" + weburl.Query{{Name: "error", Value: first}}.Encode()
		}
		return reply{redirect: url}, nil
	}
	p := page.SignIn{
		Theme:       x.theme(),
		Host:        x.host(),
		CSRFToken:   x.csrfToken,
		CallbackURL: x.callbackURL,
		Error:       code,
		Email:       x.queryText("email"),
	}
	if asked, ok := x.query.Last("callbackUrl"); ok {
		p.CallbackURL = asked // shown as it was asked for, and decided on when it comes back (fact 112)
	}
	for _, one := range x.providers {
		if one.webauthn != nil {
			p.Script = one.webauthn.routes.script
		}
		if shown, ok := x.pageProvider(one); ok {
			p.Providers = append(p.Providers, shown)
		}
	}
	out := x.html(http.StatusOK, p.HTML())
	out.csp = p.ContentSecurityPolicy()
	return out, nil
}

// pageProvider is a provider as the sign-in page shows it, if it shows it.
func (x *exchange) pageProvider(p *provider) (page.Provider, bool) {
	out := page.Provider{ID: p.id, Name: p.name, Action: x.base + "/" + string(ActionSignIn) + "/" + p.id}
	switch {
	case p.oauth != nil:
		out.Kind, out.BrandColor = page.OAuth, p.oauth.BrandColor
	case p.email != nil:
		out.Kind = page.Email
	case p.login != nil:
		out.Kind = page.Credentials
		out.Action = x.base + "/" + string(ActionCallback) + "/" + p.id
		for _, f := range p.login.Fields {
			out.Fields = append(out.Fields, page.Field(f))
		}
		return out, len(out.Fields) > 0
	case p.webauthn != nil:
		return p.webauthn.routes.form(x, p), true
	}
	return out, true
}

func (x *exchange) signOutPage() reply {
	if custom := x.config.Pages.SignOut; custom != "" {
		return reply{redirect: custom}
	}
	p := page.SignOut{Theme: x.theme(), Action: x.requestURL(), CSRFToken: x.csrfToken}
	return x.html(http.StatusOK, p.HTML())
}

func (x *exchange) verifyRequestPage() reply {
	if custom := x.config.Pages.VerifyRequest; custom != "" {
		return reply{redirect: custom + x.search()}
	}
	p := page.VerifyRequest{Theme: x.theme(), Origin: x.origin, Host: x.host()}
	asked := x.Auth.provider(x.queryText("provider"))
	if asked != nil && asked.email != nil && asked.email.Code {
		if address, _ := x.askedCode(asked.id); address != "" {
			p.CodeAction, p.CSRFToken = x.base+"/"+string(ActionCallback)+"/"+asked.id, x.csrfToken
			p.IsWrong = x.queryText("error") != ""
		}
	}
	return x.html(http.StatusOK, p.HTML())
}

// confirmPage asks whoever opened a sign-in link to press a button, which scanners don't. Its
// form repeats the link's query.
func (x *exchange) confirmPage() reply {
	p := page.Confirm{Theme: x.theme(), Host: x.host(), Action: x.requestURL()}
	return x.html(http.StatusOK, p.HTML())
}

// errorPage answers GET error. Of several codes the first one counts (fact 14).
func (x *exchange) errorPage() reply {
	code, given := x.query.Get("error")
	if custom := x.config.Pages.Error; custom != "" {
		if !given {
			code = "undefined" // what the reference sends, and custom pages may look for
		}
		separator := "?"
		if strings.Contains(custom, "?") {
			separator = "&"
		}
		return reply{redirect: custom + separator + "error=" + code}
	}
	return x.errorReply(code)
}

func (x *exchange) errorReply(code string) reply {
	p := page.Error{
		Theme: x.theme(), Code: code, Origin: x.origin, Host: x.host(),
		SignInURL: x.base + "/" + string(ActionSignIn),
	}
	return x.html(p.Status(), p.HTML())
}

func (x *exchange) html(status int, html []byte) reply {
	return reply{status: status, mime: typeHTML, body: html, csp: x.theme().ContentSecurityPolicy()}
}

// listProviders answers GET providers: an object by provider id, without cookies (fact 47).
func (x *exchange) listProviders() (reply, error) {
	type public struct {
		ID          string       `json:"id"`
		Name        string       `json:"name"`
		Type        ProviderType `json:"type"`
		SigninURL   string       `json:"signinUrl"`
		CallbackURL string       `json:"callbackUrl"`
	}
	list := make(map[string]public, len(x.providers))
	for _, p := range x.providers {
		list[p.id] = public{
			ID: p.id, Name: p.name, Type: p.kind,
			SigninURL:   x.base + "/" + string(ActionSignIn) + "/" + p.id,
			CallbackURL: x.base + "/" + string(ActionCallback) + "/" + p.id,
		}
	}
	x.set = nil
	return jsonReply(list)
}

func (x *exchange) theme() page.Theme { return page.Theme(x.config.Theme) }

// requestURL is the public URL of the request.
func (x *exchange) requestURL() string { return x.origin + x.pathname + x.search() }

// search is the request's query with its question mark, or "", as a URL parser writes it.
func (x *exchange) search() string {
	if u, ok := weburl.Parse(x.origin + "/?" + x.r.URL.RawQuery); ok && u.Query != "?" {
		return u.Query
	}
	return ""
}

func (x *exchange) host() string {
	_, host, _ := strings.Cut(x.origin, "://")
	return host
}

// withQuery appends parameters to a page's path.
func withQuery(path string, params weburl.Query) string {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return path + separator + params.Encode()
}
