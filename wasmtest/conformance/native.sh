#!/bin/sh
# Runs the conformance app beside this file, with its stores in files that go with it.
here=$(cd "$(dirname "$0")" && pwd)
AUTH_STORE=$(mktemp -d)
export AUTH_STORE
"$here/conformance" &
app=$!
trap 'kill $app' INT TERM
wait $app
code=$?
wait $app # the first wait ends with a signal, before the app does
rm -rf "$AUTH_STORE"
exit $code
