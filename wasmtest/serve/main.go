// Serve is the local server: it runs a wasip1 module built on package edge.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o app.wasm ./app
//	go run ./wasmtest/serve -addr localhost:8787 app.wasm
//
// The program's stores are those of package edge for a native program: files in the folder $AUTH_STORE, or, without it, in
// memory until the server ends. It may reach whatever the server can. Of the server's environment it sees ADDR and the names that begin with AUTH_, CONF_ and EDGE_. ADDR also is the
// address to listen on when -addr is not given. What the program logs goes to standard error.
//
// With -uninterruptible it answers two to three times as many requests, and a program that computes without end stops it: see
// wasmtest.Config. It is for a program that is known to end, as one that is measured.
//
// Serve prints "listening on http://ADDR" on standard output once the program serves. SIGINT and SIGTERM end it after the
// requests it has; a second one ends it at once. When it can't serve it says why and exits with 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/kvadapter/kv"
	"github.com/edgeauth/edgeauth/wasmtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // from here on a signal has its usual effect
	if err := serve(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "serve:", err)
		}
		os.Exit(1)
	}
}

// serve runs until ctx ends.
func serve(ctx context.Context, args, environ []string, stdout, stderr io.Writer) error {
	env := environment(environ)
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: serve [-addr host:port] [-instances n] [-uninterruptible] module.wasm")
		flags.PrintDefaults()
	}
	fallback := "localhost:8787"
	if env["ADDR"] != "" {
		fallback = env["ADDR"]
	}
	addr := flags.String("addr", fallback, "`address` to listen on; port 0 takes a free one")
	instances := flags.Int("instances", 0, "how many instances of the module may live at once (0: 8)")
	uninterruptible := flags.Bool("uninterruptible", false, "two to three times as fast, but a program that computes without end stops the server")
	if err := flags.Parse(args); err != nil {
		return flag.ErrHelp // flags has said what is wrong
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return errors.New("name one .wasm file")
	}

	listener, err := net.Listen("tcp", *addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use: stop the other server or choose another -addr", *addr)
	}
	if err != nil {
		return err
	}
	defer listener.Close()
	module, err := wasmtest.Open(ctx, flags.Arg(0), wasmtest.Config{
		Transport: transport(), Store: store, Cache: edge.KV, Env: env, Log: stderr, MaxInstances: *instances, Uninterruptible: *uninterruptible,
	})
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no file %s: build it with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o %[1]s", flags.Arg(0))
	}
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           module,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Fprintf(stdout, "listening on http://%s\n", public(*addr, listener.Addr()))
	select {
	case err = <-ended:
	case <-ctx.Done():
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		err = server.Shutdown(drain)
		cancel()
	}
	return errors.Join(err, module.Close())
}

func store(binding string) kv.Store { return edge.Store(binding) }

// public is the address as people type it: the host they asked for, with the port they got.
func public(asked string, got net.Addr) string {
	host, _, _ := net.SplitHostPort(asked)
	if host == "" {
		host = "localhost"
	}
	_, port, _ := net.SplitHostPort(got.String())
	return net.JoinHostPort(host, port)
}

func environment(environ []string) map[string]string {
	env := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if name == "ADDR" || strings.HasPrefix(name, "AUTH_") || strings.HasPrefix(name, "CONF_") || strings.HasPrefix(name, "EDGE_") {
			env[name] = value
		}
	}
	return env
}

// transport is one of our own: http.DefaultTransport waits for headers, and reads them, without a limit. Package wasmtest adds
// the limits for the whole exchange.
func transport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout:    5 * time.Second,
		ResponseHeaderTimeout:  10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        90 * time.Second,
		ForceAttemptHTTP2:      true,
	}
}
