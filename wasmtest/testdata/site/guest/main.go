// Command guest serves package site.
package main

import (
	"log"

	"github.com/edgeauth/edgeauth/edge"
	"github.com/edgeauth/edgeauth/wasmtest/testdata/site"
)

func main() {
	h, err := site.New(site.Platform{
		Transport: edge.Transport, Getenv: edge.Getenv,
		Store: edge.Store("AUTH_DO"), Cache: edge.KV("AUTH_KV"), WaitUntil: edge.WaitUntil,
	})
	if err != nil {
		log.Fatal(err)
	}
	edge.Serve(h)
}
