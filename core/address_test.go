package core_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/core/adaptertest"
)

// addresses are fact 103, with A8, A11 and A12 (GHSA-xv97-c62v-4587, GHSA-5jpx-9hw9-2fx4,
// GHSA-7rqj-j65f-68wh): what is typed, and what it becomes; nothing if it is refused.
var addresses = []struct{ typed, kept string }{
	{"ada@example.com", "ada@example.com"},
	{"  Ada@Example.COM\t", "ada@example.com"},
	{"\ufeffada@example.com\u00a0\u3000", "ada@example.com"},
	{"ada@localhost", "ada@localhost"},
	{"ada+tag@example.com", "ada+tag@example.com"},
	{"o'brien@example.com", "o'brien@example.com"},
	{"<ada>@example.com", "<ada>@example.com"},
	{"a;b@example.com", "a;b@example.com"},
	{"a b@example.com", "a b@example.com"},

	// The domain ends at the first comma.
	{"ada@example.com,eve@evil.example", ""}, // two @
	{"ada@example.com,evil.example", "ada@example.com"},
	{"ada@example.com ,evil.example", "ada@example.com"},
	{"ada@,example.com", ""},
	{"a,b@example.com", "a,b@example.com"},

	// Unicode comes first, so that look-alikes count as what they look like.
	{"ada＠example.com", "ada@example.com"},
	{"ada﹫example.com", "ada@example.com"},
	{"ada@eve＠example.com", ""},
	{"＂ada@evil＂@example.com", ""},
	{"ada@example.com，evil.example", "ada@example.com"},
	{"ﬁsh@example.com", "fish@example.com"},
	{"Åda@example.com", "åda@example.com"},
	{"A\u030ada@example.com", "åda@example.com"},
	{"İ@example.com", "i\u0307@example.com"},
	{"ΟΔΟΣ@example.com", "οδος@example.com"},
	{"ΣΑ@example.com", "σα@example.com"},
	{"K@example.com", "k@example.com"}, // the Kelvin sign
	{"J\u030c@example.com", "\u01f0@example.com"},

	{"", ""}, {"   ", ""}, {"@", ""}, {"ada", ""}, {"ada@", ""}, {"@example.com", ""}, {"a@b@c", ""}, {"ada@@example.com", ""},
	{`"ada"@example.com`, ""}, {`"e@evil.example"@example.com`, ""}, {`ada@"example".com`, ""},
	{"ada\r\nBcc: eve@evil.example", ""}, {"ada\nbcc@example.com", ""}, {"ada\x00@example.com", ""}, {"ada@exam\tple.com", ""},
	{"ada\u0085@example.com", ""}, {"ada@example.com\x7f", ""}, {"ada@example.com\r\n", "ada@example.com"},
}

func TestNormalizeEmail(t *testing.T) {
	t.Parallel()
	for _, c := range addresses {
		got, err := core.NormalizeEmail(c.typed)
		if got != c.kept || (err == nil) != (c.kept != "") {
			t.Errorf("%q: %q, %v, want %q", c.typed, got, err, c.kept)
		}
		if err != nil && c.typed != "" && strings.TrimSpace(c.typed) != "" && len(c.typed) > 5 && strings.Contains(err.Error(), c.typed) {
			t.Errorf("%q is in the error's text", c.typed)
		}
	}
}

// What is accepted is what is stored, mailed to, and in the link; what is refused reaches nobody.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range addresses {
		var mails mailbox
		store := watch(adaptertest.Memory())
		b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{mails.provider()}, Adapter: &store.Adapter}))
		a := b.post("/auth/signin/email", "email", c.typed)
		if c.kept == "" {
			a.wantError(t, configurationError)
			if calls := store.since(); mails.count() > 0 || len(calls) > 0 {
				t.Errorf("%q: %d mails, calls %v", c.typed, mails.count(), calls)
			}
			continue
		}
		a.wantRedirect(t, sentPage)
		b.get(mails.last(t)).wantRedirect(t, site)
		user, _ := store.GetUserByEmail(t.Context(), c.kept)
		if mails.mails[0].Identifier != c.kept || user == nil || user.Email != c.kept {
			t.Errorf("%q: mail to %q, stored %+v", c.typed, mails.mails[0].Identifier, user)
		}
	}
	// The address is a field of the body, and text.
	var mails mailbox
	b := newBrowser(t, newAuth(t, core.Config{Providers: []core.Provider{mails.provider()}, Adapter: adaptertest.Memory()}))
	for _, body := range []string{`{"csrfToken":"%s"}`, `{"csrfToken":"%s","email":["ada@example.com"]}`, `{"csrfToken":"%s","email":{"x":"ada@example.com"}}`, `{"csrfToken":"%s","email":null}`} {
		b.send("POST", "/auth/signin/email?email=ada@example.com", jsonType(), strings.Replace(body, "%s", b.csrf(), 1)).wantError(t, configurationError)
	}
	if mails.count() > 0 {
		t.Error("a mail was sent")
	}
}

// Whatever is accepted has one @ with something on both sides and no control characters, and
// stays as it is when it comes back.
func FuzzNormalizeEmail(f *testing.F) {
	for _, c := range addresses {
		f.Add(c.typed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		kept, err := core.NormalizeEmail(typed)
		if err != nil {
			if kept != "" {
				t.Fatalf("refused, but %q", kept)
			}
			return
		}
		local, domain, _ := strings.Cut(kept, "@")
		if strings.Count(kept, "@") != 1 || local == "" || domain == "" || strings.ContainsAny(kept, "\"") ||
			strings.Contains(domain, ",") || strings.ContainsFunc(kept, unicode.IsControl) {
			t.Errorf("%q becomes %q", typed, kept)
		}
		if again, err := core.NormalizeEmail(kept); err != nil || again != kept {
			t.Errorf("%q becomes %q, and that %q (%v)", typed, kept, again, err)
		}
	})
}
