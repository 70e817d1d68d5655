package kvadapter_test

import (
	"fmt"
	"testing"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/kvadapter"
	"github.com/edgeauth/edgeauth/kvadapter/memory"
)

// BenchmarkSessionCheck is what a session check costs above the store.
func BenchmarkSessionCheck(b *testing.B) {
	for _, sessions := range []int{1, 3, 100} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			a := kvadapter.New(memory.New(nil), kvadapter.Options{})
			if _, err := a.CreateUser(b.Context(), ada); err != nil {
				b.Fatal(err)
			}
			for i := range sessions {
				if _, err := a.CreateSession(b.Context(), sessionOf(ada, fmt.Sprint(i))); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if s, _, err := a.GetSessionAndUser(b.Context(), "0"); s == nil || err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSignIn is a returning person.
func BenchmarkSignIn(b *testing.B) {
	a := kvadapter.New(memory.New(nil), kvadapter.Options{})
	if err := adaSignedUp(b.Context(), a, "one"); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		found, err := a.FindUser(b.Context(), core.UserQuery{Provider: "github", ProviderAccountID: "1", Email: ada.Email})
		if err != nil {
			b.Fatal(err)
		}
		session := sessionOf(ada, fmt.Sprint(i))
		if _, _, err := a.SignIn(b.Context(), core.SignIn{User: core.User{ID: ada.ID}, Session: &session, Revision: found.Revision}); err != nil {
			b.Fatal(err)
		}
	}
}
