// Package client is the browser's side of the handler: an ES module without dependencies, which
// the handler serves under its base path, and its TypeScript declarations, which are also its
// documentation.
package client

import _ "embed"

//go:embed client.mjs
var module string

//go:embed client.d.ts
var types string

// Module is the ES module, in UTF-8.
func Module() string { return module }

// Types are the TypeScript declarations of the module, in UTF-8.
func Types() string { return types }
