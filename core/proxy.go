package core

import (
	"github.com/edgeauth/edgeauth/core/internal/weburl"
)

// A redirect proxy is a site that is registered with OAuth providers on behalf of others,
// preview deployments for instance. The others name its callback as their redirect URI and
// put their own into the state; the proxy sends the provider's answer on to there. Facts 120
// and 121.

// ownRedirectURI is the provider's callback route on this site.
func (x *exchange) ownRedirectURI() string {
	return x.base + "/" + string(ActionCallback) + "/" + x.provider.id
}

// redirectURI is where the provider is asked to send the browser, the same in both requests.
func (x *exchange) redirectURI() string {
	if x.usesProxy() {
		return x.provider.oauth.RedirectProxyURL + "/" + string(ActionCallback) + "/" + x.provider.id
	}
	return x.ownRedirectURI()
}

// usesProxy reports whether the provider's answer comes by way of another site.
func (x *exchange) usesProxy() bool {
	return x.provider.oauth.RedirectProxyURL != "" && !x.isProxy()
}

// isProxy reports whether this site is the proxy itself.
func (x *exchange) isProxy() bool {
	proxy, ok := weburl.Parse(x.provider.oauth.RedirectProxyURL)
	return ok && proxy.Origin() == x.origin
}

// checkProxy refuses a proxy URL that is none, for the provider's own routes only.
func (x *exchange) checkProxy() error {
	if x.provider == nil || x.provider.oauth == nil || x.provider.oauth.RedirectProxyURL == "" {
		return nil
	}
	if _, ok := weburl.Parse(x.provider.oauth.RedirectProxyURL); !ok {
		return fail(ErrInvalidConfig, "RedirectProxyURL (AUTH_REDIRECT_PROXY_URL) is no URL: set it to the proxy's URL up to its base path", nil)
	}
	return nil
}

// proxyRedirect gives where to send a provider's answer on to, on the proxy; "" if it is the
// proxy's own. The state is sealed with the secret that the sites share, so that nobody else
// can make the proxy send codes anywhere.
func (x *exchange) proxyRedirect() (string, error) {
	state := x.queryText("state")
	if state == "" || !x.isProxy() {
		return "", nil
	}
	claims, err := x.open(x.state, state)
	if err != nil {
		return "", fail(ErrInvalidCheck, "the answer's state can't be read", err)
	}
	target := claims.String("origin")
	if target == "" {
		return "", nil
	}
	u, ok := weburl.Parse(target)
	if !ok || u.Scheme != "https" && u.Scheme != "http" {
		return "", fail(ErrInvalidCheck, "the answer's state names no URL", nil)
	}
	if u.Origin() == x.origin {
		return "", nil
	}
	return target + "?" + x.lastParams().Encode(), nil
}

// lastParams is the query with the last one of each parameter, in the order in which their
// names first appear.
func (x *exchange) lastParams() weburl.Query {
	var out weburl.Query
	for _, p := range x.query {
		if _, seen := out.Get(p.Name); !seen {
			value, _ := x.query.Last(p.Name)
			out = append(out, weburl.Param{Name: p.Name, Value: value})
		}
	}
	return out
}
