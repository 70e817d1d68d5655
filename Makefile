# make help lists the targets. Everything built is in build/ and bin/, which git ignores.

.DEFAULT_GOAL := help
SHELL := /bin/sh

# The largest that the reference worker may be, in bytes after gzip -9. Its size decides how
# long the first answer of a fresh isolate takes.
SIZE_CEILING := 2750000

WASM_FLAGS := -tags nethttpomithttp2 -ldflags="-s -w" -trimpath
GO_JS      := GOOS=js GOARCH=wasm go build $(WASM_FLAGS)
GO_WASIP1  := GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared $(WASM_FLAGS)
WASM_EXEC  := $(shell go env GOROOT)/lib/wasm/wasm_exec.js

TOOLS   := edge/worker/node_modules/.package-lock.json
WRANGLER := edge/worker/node_modules/.bin/wrangler
RUNTIME ?= native
ADDR    ?= 127.0.0.1:8790
SOAK    ?= 30m

.PHONY: help run worker deploy dev test fuzz size bench soak differences conformance conformance-bin compare clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## serve a demo on http://localhost:8787, as a wasip1 module under wazero
	@mkdir -p build/demo
	$(GO_WASIP1) -o build/demo/demo.wasm ./wasmtest/demo
	go build -o build/demo/serve ./wasmtest/serve
	@test -s build/demo/secret || head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' > build/demo/secret
	@echo 'Open http://localhost:8787 and sign in with any name and the password "demo",'
	@echo 'or, with AUTH_SESSION_STRATEGY=database, by a link that is shown here.'
	@AUTH_SECRET="$${AUTH_SECRET:-$$(cat build/demo/secret)}" AUTH_STORE="$${AUTH_STORE:-build/demo/store}" \
		build/demo/serve -addr localhost:8787 build/demo/demo.wasm

worker: ## build the deployable worker in build/worker
	@mkdir -p build/worker
	$(GO_JS) -o build/worker/app.wasm ./edge/worker
	@cp edge/worker/worker.mjs edge/worker/program.mjs edge/worker/calls.mjs edge/worker/store.mjs edge/worker/records.mjs "$(WASM_EXEC)" build/worker/

deploy: $(TOOLS) ## build the worker and deploy it to Cloudflare; says what is missing for that
	@if $(WRANGLER) whoami --json 2>/dev/null | grep -q '"loggedIn": *false'; then \
		echo "Not logged in at Cloudflare. Run: $(WRANGLER) login (or set CLOUDFLARE_API_TOKEN)" >&2; exit 1; fi
	@if ! secrets=$$($(WRANGLER) secret list 2>&1) && ! echo "$$secrets" | grep -q 'not found'; then echo "$$secrets" >&2; exit 1; fi; \
	if ! echo "$$secrets" | grep -q '"AUTH_SECRET"'; then \
		echo "The worker has no AUTH_SECRET yet. Run: openssl rand -hex 32 | $(WRANGLER) secret put AUTH_SECRET" >&2; exit 1; fi
	@$(WRANGLER) deploy

dev: $(TOOLS) ## run the worker on workerd, with a local OpenID provider to sign in at
	@node edge/worker/dev.mjs

test: ## run every test; says what it leaves out on a machine without Node or Chromium
	@.ci/test

fuzz: ## run every fuzz target for FUZZTIME (default 10s) each
	@.ci/fuzz

size: worker ## print the worker's size after gzip -9; fails past the ceiling
	@size=$$(gzip -9 -c build/worker/app.wasm | wc -c); \
	raw=$$(wc -c < build/worker/app.wasm); \
	echo "worker: $$size bytes after gzip -9 ($$raw before), ceiling $(SIZE_CEILING)"; \
	test $$size -le $(SIZE_CEILING)

bench: $(TOOLS) ## measure against @auth/core on workerd, in ten minutes; rewrites edge/bench/RESULTS.md and the README's numbers
	go run ./edge/bench -write edge/bench -readme README.md

soak: $(TOOLS) ## session checks on workerd for SOAK (default 30m), at 70 % of the rate at which answers begin to be slow
	go run ./edge/bench -soak $(SOAK) -write edge/bench -readme README.md

differences: ## bring the README's table up to date with core/differences.json
	go test ./core -run TestDifferences -update

conformance-bin: bin/conformance-native bin/conformance-wazero bin/conformance-workerd ## build the conformance app for each runtime

conformance: bin/conformance-$(RUNTIME) ## serve the conformance app: RUNTIME=native|wazero|workerd|node|deno|bun ADDR=host:port
	@ADDR=$(ADDR) exec bin/conformance-$(RUNTIME)

.PHONY: bin/conformance-native bin/conformance-wazero bin/conformance-workerd bin/conformance-node bin/conformance-deno bin/conformance-bun
bin/conformance-native:
	go build -o bin/conformance ./wasmtest/conformance
	@cp wasmtest/conformance/native.sh $@

bin/conformance-wazero:
	@mkdir -p bin
	$(GO_WASIP1) -o bin/conformance.wasm ./wasmtest/conformance
	go build -o bin/serve ./wasmtest/serve
	@printf '#!/bin/sh\nhere=$$(cd "$$(dirname "$$0")" && pwd)\nexec "$$here/serve" "$$here/conformance.wasm"\n' > $@
	@chmod +x $@

bin/conformance-workerd: $(TOOLS)
	@mkdir -p bin/workerd
	$(GO_JS) -o bin/workerd/app.wasm ./wasmtest/conformance
	@cp edge/worker/worker.mjs edge/worker/program.mjs edge/worker/calls.mjs edge/worker/store.mjs edge/worker/records.mjs "$(WASM_EXEC)" bin/workerd/
	@printf '#!/bin/sh\nhere=$$(cd "$$(dirname "$$0")" && pwd)\nexec node "$$here/../edge/worker/serve.mjs" "$$here/workerd"\n' > $@
	@chmod +x $@

bin/conformance-node: HOST := node
bin/conformance-deno: HOST := deno run -NERW
bin/conformance-bun: HOST := bun
bin/conformance-node bin/conformance-deno bin/conformance-bun: bin/conformance-workerd # the same files
	@printf '#!/bin/sh\nhere=$$(cd "$$(dirname "$$0")" && pwd)\nPATH="$$here/../edge/worker/node_modules/.bin:$$PATH" exec $(HOST) "$$here/../edge/hosts/$(@:bin/conformance-%=%).mjs" "$$here/workerd"\n' > $@
	@chmod +x $@

conformance-compare: bin/conformance-$(RUNTIME) ## compare with @auth/core, request by request: RUNTIME=native|wazero|workerd|node|deno|bun
	@sh ../shared/conformance/compare.sh "$(CURDIR)/bin/conformance-$(RUNTIME)" --known "$(CURDIR)/core/differences.json" --jobs 2 $(if $(SUITES),--suite $(SUITES))

$(TOOLS): edge/worker/package.json edge/worker/package-lock.json
	@command -v npm >/dev/null || { echo "this target needs Node 20 or later with npm: https://nodejs.org" >&2; exit 1; }
	cd edge/worker && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

clean: ## remove what was built
	rm -rf bin build
