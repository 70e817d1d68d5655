package remote_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/edgeauth/edgeauth/core/remote"
)

// An app whose account page is for people who are signed in, and what a stranger gets.
func Example() {
	edge, err := remote.New(remote.Config{URL: "https://app.example/auth"})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
		if session, ok := edge.Require(w, r); ok {
			fmt.Fprint(w, "The account of ", session.User.Name)
		}
	})
	app := edge.Handle(mux)

	for _, mode := range []string{"navigate", "cors"} {
		r := httptest.NewRequest("GET", "https://app.example/account", nil)
		r.Header.Set("Sec-Fetch-Mode", mode)
		w := httptest.NewRecorder()
		app.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("Location")+w.Body.String())
	}
	// Output:
	// 303 /auth/signin?callbackUrl=%2Faccount
	// 401 {"message":"Sign in first.","url":"/auth/signin?callbackUrl=%2Faccount"}
}
