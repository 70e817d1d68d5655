package authjs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
	"github.com/edgeauth/edgeauth/kvadapter/transfer"
	"github.com/edgeauth/edgeauth/kvadapter/transfer/authjs"
)

// linkToken is what Auth.js and core store of a link's token.
var linkToken = fmt.Sprintf("%x", sha256.Sum256([]byte("link"+"secret")))

// fixtures are the same two people as the published schemas of the adapters hold them, and as the
// clients of the databases write them. END is a time to come, in four forms, and LINK linkToken.
var fixtures = []struct {
	name                                              string
	users, accounts, sessions, tokens, authenticators string
}{
	{
		name: "pg: psql's copy to csv",
		users: `id,name,email,emailVerified,image
1,"Ada ""The Countess"" Lovelace",ada@example.com,2026-01-31 12:00:00.25+00,
2,"Zoë,
second line",Zoe@Example.com,,https://example.com/zoe.png
`,
		accounts: `id,userId,type,provider,providerAccountId,refresh_token,access_token,expires_at,id_token,scope,session_state,token_type
1,1,oauth,github,583231,,gho_1,1769860800,,read:user,,bearer
`,
		sessions: `id,userId,expires,sessionToken
1,1,END_SQL+00,token-ada
2,2,2020-01-01 00:00:00+00,token-ended
`,
		tokens: `identifier,expires,token
ada@example.com,END_SQL+00,LINK
`,
	},
	{
		name: "pg: row_to_json",
		users: `{"id":1,"name":"Ada \"The Countess\" Lovelace","email":"ada@example.com","emailVerified":"2026-01-31T13:00:00.25+01:00","image":null}
{"id":2,"name":"Zoë,\nsecond line","email":"Zoe@Example.com","emailVerified":null,"image":"https://example.com/zoe.png"}
`,
		accounts: `{"id":1,"userId":1,"type":"oauth","provider":"github","providerAccountId":"583231","refresh_token":null,"access_token":"gho_1","expires_at":1769860800,"id_token":null,"scope":"read:user","session_state":null,"token_type":"bearer"}`,
		sessions: `{"id":1,"userId":1,"expires":"END_ISO","sessionToken":"token-ada"}`,
		tokens:   `{"identifier":"ada@example.com","expires":"END_ISO","token":"LINK"}`,
	},
	{
		name: "d1: wrangler's JSON, one result a line",
		users: `{"id":"1","name":"Ada \"The Countess\" Lovelace","email":"ada@example.com","emailVerified":"2026-01-31T12:00:00.250Z","image":null}
{"id":"2","name":"Zoë,\nsecond line","email":"Zoe@Example.com","emailVerified":null,"image":"https://example.com/zoe.png"}
`,
		accounts: `{"id":"a","userId":"1","type":"oauth","provider":"github","providerAccountId":"583231","refresh_token":null,"access_token":"gho_1","expires_at":1769860800,"token_type":"bearer","scope":"read:user","id_token":null,"session_state":null,"oauth_token_secret":null,"oauth_token":null}`,
		sessions: `{"id":"s","sessionToken":"token-ada","userId":"1","expires":"END_ISO"}`,
		tokens:   `{"identifier":"ada@example.com","token":"LINK","expires":"END_ISO"}`,
	},
	{
		name: "drizzle on SQLite: sqlite3 -json",
		users: `[{"id":"1","name":"Ada \"The Countess\" Lovelace","email":"ada@example.com","emailVerified":1769860800250,"image":null},
{"id":"2","name":"Zoë,\nsecond line","email":"Zoe@Example.com","emailVerified":null,"image":"https://example.com/zoe.png"}]
`,
		accounts:       `[{"userId":"1","type":"oauth","provider":"github","providerAccountId":"583231","refresh_token":null,"access_token":"gho_1","expires_at":1769860800,"token_type":"bearer","scope":"read:user","id_token":null,"session_state":null}]`,
		sessions:       `[{"sessionToken":"token-ada","userId":"1","expires":END_MS}]`,
		tokens:         `[{"identifier":"ada@example.com","token":"LINK","expires":END_MS}]`,
		authenticators: `[{"credentialID":"q83v","userId":"1","providerAccountId":"q83v","credentialPublicKey":"pQ==","counter":7,"credentialDeviceType":"singleDevice","credentialBackedUp":1,"transports":"usb,nfc"}]`,
	},
	{
		name:  "prisma on Postgres, mapped to snake_case: psql's copy to csv",
		users: "\ufeffid,name,email,email_verified,image,created_at\r\n1,\"Ada \"\"The Countess\"\" Lovelace\",ada@example.com,2026-01-31 12:00:00.25,,2025-01-01 00:00:00\r\n2,\"Zoë,\nsecond line\",Zoe@Example.com,,https://example.com/zoe.png,2025-01-01 00:00:00\r\n",
		accounts: `user_id,type,provider,provider_account_id,refresh_token,access_token,expires_at,token_type,scope,id_token,session_state,created_at
1,oauth,github,583231,,gho_1,1769860800,bearer,read:user,,,2025-01-01 00:00:00
`,
		sessions: "session_token,user_id,expires\ntoken-ada,1,END_SQL\n",
		tokens:   "identifier,token,expires\nada@example.com,LINK,END_SQL\n",
		authenticators: `credential_id,user_id,provider_account_id,credential_public_key,counter,credential_device_type,credential_backed_up,transports
q83v,1,q83v,pQ==,7,singleDevice,t,"usb,nfc"
`,
	},
	{
		name: "kysely on MySQL: epoch seconds and \\N",
		users: `id,name,email,emailVerified,image
1,"Ada ""The Countess"" Lovelace",ada@example.com,1769860800.25,\N
2,"Zoë,
second line",Zoe@Example.com,\N,https://example.com/zoe.png
`,
		accounts: `id,userId,type,provider,providerAccountId,access_token,expires_at,scope,token_type
a,1,oauth,github,583231,gho_1,1769860800,read:user,bearer
`,
		sessions:       "id,userId,sessionToken,expires\ns,1,token-ada,END_S\n",
		tokens:         "identifier,token,expires\nada@example.com,LINK,END_S\n",
		authenticators: "credentialID,userId,providerAccountId,credentialPublicKey,counter,credentialDeviceType,credentialBackedUp,transports\nq83v,1,q83v,pQ==,7,singleDevice,true,\"usb,nfc\"\n",
	},
}

var end = time.Now().Add(24 * time.Hour).UTC().Truncate(time.Second)

func table(text string) io.Reader {
	if text == "" {
		return nil
	}
	return strings.NewReader(strings.NewReplacer(
		"END_SQL", end.Format("2006-01-02 15:04:05"), "END_ISO", end.Format("2006-01-02T15:04:05.000Z"),
		"END_MS", fmt.Sprint(end.UnixMilli()), "END_S", fmt.Sprint(end.Unix()), "LINK", linkToken,
	).Replace(text))
}

func TestNobodyHasToSignInAnew(t *testing.T) {
	t.Parallel()
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			store := memory.New(nil)
			counts, err := authjs.Import(t.Context(), store, authjs.Tables{
				Users: table(f.users), Accounts: table(f.accounts), Sessions: table(f.sessions),
				VerificationTokens: table(f.tokens), Authenticators: table(f.authenticators),
			}, authjs.Options{Prefix: "app."})
			if err != nil {
				t.Fatal(err, counts)
			}
			records := kvadapter.Open(store, kvadapter.Options{KeyPrefix: "app."})
			a := records.Adapter()
			s, u, err := a.GetSessionAndUser(t.Context(), "token-ada")
			if err != nil || s == nil || !s.Expires.Equal(end) {
				t.Fatalf("the session is %v, %v", s, err)
			}
			verified := time.UnixMilli(1769860800250).UTC()
			if u.ID != "1" || u.Name != `Ada "The Countess" Lovelace` || u.Email != "ada@example.com" || !u.EmailVerified.Equal(verified) || u.Image != "" || u.Extra != nil {
				t.Errorf("the user is %+v", u)
			}
			if s, _, err := a.GetSessionAndUser(t.Context(), "token-ended"); s != nil || err != nil {
				t.Errorf("a session that has ended is %v, %v", s, err)
			}
			if zoe, err := a.GetUserByEmail(t.Context(), "Zoe@Example.com"); err != nil || zoe == nil || zoe.ID != "2" || zoe.Name != "Zoë,\nsecond line" || zoe.Image == "" {
				t.Errorf("the other user is %+v, %v", zoe, err)
			}
			if by, err := a.GetUserByAccount(t.Context(), "github", "583231"); err != nil || by == nil || by.ID != "1" {
				t.Errorf("the account's user is %v, %v", by, err)
			}
			account, err := a.GetAccount(t.Context(), "583231", "github")
			if err != nil || account.AccessToken != "gho_1" || account.ExpiresAt != 1769860800 || account.Scope != "read:user" || account.TokenType != "bearer" || account.Type != core.TypeOAuth || account.RefreshToken != "" {
				t.Errorf("the account is %+v, %v", account, err)
			}
			if token, err := a.UseVerificationToken(t.Context(), "ada@example.com", linkToken); err != nil || token == nil || !token.Expires.Equal(end) {
				t.Errorf("the link is %v, %v", token, err)
			}
			if f.authenticators != "" {
				want := core.Authenticator{
					CredentialID: "q83v", UserID: "1", ProviderAccountID: "q83v", CredentialPublicKey: "pQ==",
					Counter: 7, CredentialDeviceType: "singleDevice", CredentialBackedUp: true, Transports: "usb,nfc",
				}
				if list, err := a.ListAuthenticatorsByUserID(t.Context(), "1"); err != nil || len(list) != 1 || list[0] != want {
					t.Errorf("the passkeys are %+v, %v", list, err)
				}
			}
			// The index has the session, the account and the passkey.
			if err := records.SignOutEverywhere(t.Context(), "1"); err != nil {
				t.Fatal(err)
			}
			if s, _, err := a.GetSessionAndUser(t.Context(), "token-ada"); s != nil || err != nil {
				t.Errorf("after a sign-out everywhere the session is %v, %v", s, err)
			}
			for _, id := range []string{"1", "2"} {
				if err := a.DeleteUser(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
			left, _, err := store.List(t.Context(), "", "")
			if err != nil || len(left) != 1 || !strings.HasPrefix(left[0].Key, "app.token.") {
				t.Errorf("without users there is still %v, %v", left, err)
			}
		})
	}
}

func TestRowsThatCannotGoInAreKept(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", kv.MaxValue)
	tests := []struct {
		name, users, accounts, sessions, authenticators, tokens string
		want                                                    []string // table, line: reason
	}{
		{
			name:  "the first user with an address has it",
			users: "id,email\n1,a@example.com\n2,a@example.com\n3,A@example.com\n1,b@example.com\n,c@example.com\n4,\n5,\n",
			want:  []string{"users, 3: another user has the address", "users, 5: another user has the ID", "users, 6: id is missing"},
		},
		{
			name:  "CSV that isn't",
			users: "id,name,email\n1,Ada\n2,\"Zoë\" x,z@example.com\n3,O\"Neil,o@example.com\n4,Bob,b@example.com\n5,Eve\",e@example.com\n\n6,\"no end,f@example.com\n7,J\xff,g@example.com\n",
			want: []string{
				"users, 2: not CSV with as many fields as the first line", "users, 3: not CSV with as many fields as the first line",
				"users, 4: not CSV with as many fields as the first line", "users, 6: not CSV with as many fields as the first line", "users, 8: a quoted field has no end", "users, 9: not UTF-8",
			},
		},
		{
			name:  "NDJSON that isn't",
			users: "{\"id\":1}\n{\"id\":\n[1]\nnull\n{\"id\":{}}\n{\"id\":2,\"emailVerified\":\"soon\"}\n{\"id\":3,\"email\":\"\xff\"}\n{\"id\":4,\"image\":\"" + long + "\"}\n{\"id\":5}\n",
			want: []string{
				"users, 2: not a JSON object", "users, 3: not a JSON object", "users, 4: not a JSON object", "users, 5: id is not text",
				"users, 6: emailVerified is not a time", "users, 7: not UTF-8", "users, 8: a value has at most 65,536 bytes",
			},
		},
		{
			name:           "what belongs to nobody, or to somebody else",
			users:          "id\n1\n2\n",
			accounts:       "userId,provider,providerAccountId,expires_at\n1,github,7,\n2,github,7,\n3,github,8,\n1,,9,\n1,github,9,hunter2\n",
			sessions:       "sessionToken,userId,expires\na,1,END_S\na,2,END_S\nb,3,END_S\nc,1,\nd,1,hunter2\n,1,END_S\ne,1,infinity\n",
			authenticators: "credentialID,userId,credentialPublicKey,counter,credentialBackedUp\na,1,k,0,f\na,2,k,0,f\nb,3,k,0,f\nc,1,k,-1,f\nd,1,k,,f\ne,1,k,1,maybe\nf,1,,1,t\n",
			tokens:         "identifier,token,expires\na,b,END_S\na,,END_S\na,c,\n",
			want: []string{
				"accounts, 3: another user has the account", "accounts, 4: no such user", "accounts, 5: provider is missing", "accounts, 6: expires_at is not a time",
				"authenticators, 3: the credential is stored already", "authenticators, 4: no such user", "authenticators, 5: counter is not a number",
				"authenticators, 6: counter is missing", "authenticators, 7: credentialBackedUp is neither true nor false", "authenticators, 8: credentialPublicKey is missing",
				"sessions, 3: another session has the token", "sessions, 4: no such user", "sessions, 5: expires is missing", "sessions, 6: expires is not a time",
				"sessions, 7: sessionToken is missing", "sessions, 8: expires is not a time",
				"verification tokens, 3: token is missing", "verification tokens, 4: expires is missing",
			},
		},
		{
			name:     "the 101st account",
			users:    "id\n1\n",
			accounts: "userId,provider,providerAccountId\n" + repeat(101, "1,github,%d\n"),
			want:     []string{"accounts, 102: a user has at most 100 accounts and passkeys"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			kept := map[string]*bytes.Buffer{}
			var got []string
			options := authjs.Options{Rejected: func(r transfer.Reject) error {
				got = append(got, fmt.Sprintf("%s, %d: %s", r.Table, r.Line, r.Reason))
				if kept[r.Table] == nil {
					kept[r.Table] = bytes.NewBuffer(bytes.Clone(r.Header))
				}
				fmt.Fprintf(kept[r.Table], "%s\n", r.Text)
				return nil
			}}
			tables := func() authjs.Tables {
				return authjs.Tables{
					Users: table(test.users), Accounts: table(test.accounts), Sessions: table(test.sessions),
					Authenticators: table(test.authenticators), VerificationTokens: table(test.tokens),
				}
			}
			counts, err := authjs.Import(t.Context(), memory.New(nil), tables(), options)
			if err != nil || strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Fatalf("%v; rejected:\n%s\nwant:\n%s", err, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			rejected := 0
			for _, n := range counts {
				rejected += n.Rejected
				if n.Rows != n.Stored+n.Expired+n.Rejected || n.Stored == 0 {
					t.Errorf("%+v", n)
				}
			}
			if rejected != len(test.want) {
				t.Errorf("counted %d rejected rows", rejected)
			}
			if users := kept["users"]; users != nil && test.name != "the first user with an address has it" {
				// What is kept is rejected again: it is as it was.
				n := len(got)
				delete(kept, "users")
				if _, err := authjs.Import(t.Context(), memory.New(nil), authjs.Tables{Users: users}, options); err != nil || len(got) != 2*n {
					t.Errorf("of the rows that were kept %d of %d were rejected again, %v", len(got)-n, n, err)
				}
			}
			options.Rejected = nil
			_, err = authjs.Import(t.Context(), memory.New(nil), tables(), options)
			if first, ok := errors.AsType[*transfer.RejectError](err); !ok || !strings.HasPrefix(test.want[0], fmt.Sprintf("%s, %d: ", first.Reject.Table, first.Reject.Line)) {
				t.Errorf("without Rejected: %v", err)
			}
		})
	}
}

func repeat(n int, format string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, format, i)
	}
	return text.String()
}

func TestALineThatIsTooLong(t *testing.T) {
	t.Parallel()
	for _, users := range []string{
		"id,name\n1,%s\n2,Ada\n", "{\"id\":1,\"name\":\"%s\"}\n{\"id\":2}\n", "id,name\n1,\"%s\n2,Ada\n",
	} {
		var rejected []transfer.Reject
		users = fmt.Sprintf(users, strings.Repeat("x", transfer.MaxLine))
		counts, err := authjs.Import(t.Context(), memory.New(nil), authjs.Tables{Users: strings.NewReader(users)}, authjs.Options{
			Rejected: func(r transfer.Reject) error { rejected = append(rejected, r); return nil },
		})
		if err != nil || counts[0].Stored != 1 || len(rejected) != 1 || len(rejected[0].Text) != transfer.MaxLine {
			t.Errorf("%.20q: %+v, %v", users, counts, err)
		}
	}
}

func TestColumnsOfASitesOwn(t *testing.T) {
	t.Parallel()
	for users, role := range map[string]string{
		"id,role,password\n1,admin,hunter2\n":                      "admin",
		`{"id":1,"role":[12345678901234567],"password":"hunter2"}`: "[12345678901234567]",
	} {
		store := memory.New(nil)
		counts, err := authjs.Import(t.Context(), store, authjs.Tables{Users: strings.NewReader(users)}, authjs.Options{Extra: []string{"role"}})
		if err != nil || fmt.Sprint(counts[0].Ignored) != "[password]" {
			t.Fatalf("%+v, %v", counts, err)
		}
		u, err := kvadapter.New(store, kvadapter.Options{}).GetUser(t.Context(), "1")
		if err != nil || len(u.Extra) != 1 || fmt.Sprint(u.Extra["role"]) != role {
			t.Errorf("the user is %+v, %v", u, err)
		}
	}
}

// busy is a store that somebody else writes to, or that fails, after some commits.
type busy struct {
	*memory.Store
	left int
	err  error
}

func (b *busy) Commit(ctx context.Context, checks []kv.Check, writes []kv.Write) (bool, error) {
	if b.left--; b.left >= 0 {
		return b.Store.Commit(ctx, checks, writes)
	}
	if b.err != nil {
		return false, b.err
	}
	if ok, err := b.Store.Commit(ctx, nil, writes[:1]); !ok || err != nil {
		return ok, err
	}
	return b.Store.Commit(ctx, checks, writes)
}

func TestAStoreThatFailsEndsTheImport(t *testing.T) {
	t.Parallel()
	users := "id,email\n" + repeat(1000, "%[1]d,%[1]d@example.com\n")
	down := errors.New("the disk is full")
	for _, want := range []error{down, authjs.ErrChanged} {
		store := &busy{Store: memory.New(nil), left: 3}
		if want == down {
			store.err = down
		}
		rejected := 0
		counts, err := authjs.Import(t.Context(), store, authjs.Tables{Users: strings.NewReader(users)}, authjs.Options{
			Rejected: func(transfer.Reject) error { rejected++; return nil },
		})
		if !errors.Is(err, want) || rejected > 0 || counts[0].Stored == 0 || counts[0].Stored == 1000 {
			t.Errorf("Import = %+v, %v, with %d rows rejected, want %v", counts, err, rejected, want)
		}
	}
}

func TestManyCommitsAreOne(t *testing.T) {
	t.Parallel()
	store := &busy{Store: memory.New(nil), left: 1 << 30}
	users, sessions := "id,email\n"+repeat(2000, "%[1]d,%[1]d@example.com\n"), "userId,sessionToken,expires\n"+repeat(2000, "%[1]d,token-%[1]d,END_S\n")
	counts, err := authjs.Import(t.Context(), store, authjs.Tables{Users: table(users), Sessions: table(sessions)}, authjs.Options{})
	if commits := 1<<30 - store.left; err != nil || counts[1].Stored != 2000 || commits > 100 {
		t.Errorf("Import = %+v, %v with %d commits for 4,000 rows", counts, err, commits)
	}
}

func FuzzTable(f *testing.F) {
	for _, fixture := range fixtures {
		f.Add([]byte(fixture.users), []byte(fixture.sessions))
	}
	f.Add([]byte("id,id\n\"\n\",1\n"), []byte("[\n{},\n]\n\"\""))
	f.Fuzz(func(t *testing.T, users, sessions []byte) {
		store := memory.New(nil)
		counts, err := authjs.Import(t.Context(), store, authjs.Tables{Users: bytes.NewReader(users), Sessions: bytes.NewReader(sessions)}, authjs.Options{
			Rejected: func(r transfer.Reject) error {
				if file := users; r.Table != "users" {
					file = sessions
				} else if !bytes.Contains(bytes.ReplaceAll(file, []byte("\r\n"), []byte("\n")), r.Text) {
					t.Errorf("kept %q, which is not in the file", r.Text)
				}
				return nil
			},
		})
		if bad, ok := errors.AsType[*transfer.RejectError](err); ok && bad.Reject.Line > 0 {
			return // the file has no names of columns
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range counts {
			if n.Rows != n.Stored+n.Expired+n.Rejected {
				t.Errorf("%+v", n)
			}
		}
	})
}

func ExampleImport() {
	users := `id,name,email,emailVerified,image
1,Ada,ada@example.com,2026-01-31 12:00:00+00,
2,Eve,ada@example.com,,
`
	sessions := `id,userId,expires,sessionToken
1,1,2099-01-31 12:00:00+00,7b1f0a34-…
`
	store := memory.New(nil)
	counts, err := authjs.Import(context.Background(), store, authjs.Tables{
		Users:    strings.NewReader(users),
		Sessions: strings.NewReader(sessions),
	}, authjs.Options{
		Rejected: func(r transfer.Reject) error {
			fmt.Printf("%s, line %d: %s\n", r.Table, r.Line, r.Reason)
			return nil
		},
	})
	fmt.Println(counts[0].Stored, counts[1].Stored, err)

	_, user, err := kvadapter.New(store, kvadapter.Options{}).GetSessionAndUser(context.Background(), "7b1f0a34-…")
	fmt.Println(user.Name, err)
	// Output:
	// users, line 3: another user has the address
	// 1 1 <nil>
	// Ada <nil>
}
