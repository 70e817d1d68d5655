// Command worker is the handler that the example apps are pointed at, on workerd. It answers
// under /auth and, for the clients of SolidStart and Next.js, under /api/auth. Its settings are
// those of package demo.
package main

import (
	"fmt"
	"os"

	"github.com/edgeauth/edgeauth/core"
	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/edge/examples/demo"
)

func main() {
	config := demo.Config()
	config.BasePath = "/auth"
	config.BasePathAliases = []string{"/api/auth"}
	config.CSRF = core.CSRFOrigin // the client of SvelteKit sends no token
	auth, err := core.New(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		edge.Serve(core.Misconfigured(config, err))
		return
	}
	edge.Serve(auth)
}
