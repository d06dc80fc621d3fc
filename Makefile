# A thin front of CMake, Ninja and the scripts in tools/ and perf/. `make help` lists the targets.
#
# PREFIX   where `make install` puts things (default /usr/local); DESTDIR is put in front of it
# SIZE     memory the server of `make run` is filled for (default 256mb)
# SECONDS  length of its measurement (default 10); THREADS and CLIENTS (connections of each thread) of the load, PIPELINE, IO
# STEPS    which steps of `make test` to run, for example STEPS="lint unit-asan"
# JOBS     parallel compilations (default: one per processor)
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)
STEPS ?=
RUN_OPTIONS = $(if $(SIZE),--size $(SIZE)) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(THREADS),--threads $(THREADS)) \
    $(if $(CLIENTS),--clients $(CLIENTS)) $(if $(PIPELINE),--pipeline $(PIPELINE)) $(if $(IO),--io $(IO))

.DEFAULT_GOAL := all
.PHONY: all run test test-all unit integration lint tidy format perf arm64 install uninstall clean help deps-build deps-test

all: deps-build ## Build build/release/ketch-server and build/release/ketch-bench
	@test -f build/release/build.ninja || cmake --preset release >/dev/null
	@cmake --build build/release --parallel $(JOBS) --target ketch-server ketch-bench
	@echo "Built build/release/ketch-server and build/release/ketch-bench"

run: all ## Start the server, fill it, measure it, and say in five lines what came out
	@tools/run $(RUN_OPTIONS)

test: deps-test ## Everything that has to hold before a change lands (about a quarter of an hour on two cores)
	@JOBS=$(JOBS) tools/test $(if $(STEPS),$(STEPS),default)

test-all: deps-test ## The same with the long parts: ten minutes of each fuzzer, everything under the sanitizers
	@JOBS=$(JOBS) tools/test all

unit: deps-test ## Only the unit tests, with AddressSanitizer
	@JOBS=$(JOBS) tools/test build-asan unit-asan

integration: deps-test ## Only the integration tests, against the release build
	@JOBS=$(JOBS) tools/test build-release node-clients integration

lint: ## Shape rules and layers; quick, needs no build
	@tools/test lint layers

tidy: deps-build ## What clang-tidy thinks; advice, not part of `make test`
	@tools/install-deps tidy
	@test -f build/debug/compile_commands.json || cmake --preset debug >/dev/null
	@find lib server bench perf -name '*.c' -print0 | xargs -0 -n 4 -P $(JOBS) clang-tidy -p build/debug --quiet

format: ## Format every C file
	@tools/install-deps format
	@find lib server bench perf tests -name '*.[ch]' -not -path '*/node_modules/*' -print0 | xargs -0 clang-format -i

perf: deps-test all ## Compare with redis-server on this machine: prints the tables of docs/performance.md
	@cmake --build build/release --parallel $(JOBS)
	@perf/compare
	@perf/floor

arm64: ## Check that everything compiles for aarch64
	@tools/install-deps arm64
	@tools/check-arm64

install: all ## Install under PREFIX (and DESTDIR)
	@DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX) >build/release/install.log || \
	    { cat build/release/install.log; exit 1; }
	@echo "Installed under $(DESTDIR)$(PREFIX); the list of files is in build/release/install_manifest.txt"

uninstall: ## Remove what the last `make install` put there, except configuration
	@test -f build/release/install_manifest.txt || { echo "nothing is known to be installed"; exit 1; }
	@grep -v '\.conf$$' build/release/install_manifest.txt | while read -r file; do rm -f "$(DESTDIR)$$file"; done

clean: ## Remove build/ and results/
	@rm -rf build results

help: ## This list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

deps-build:
	@tools/install-deps build

deps-test:
	@tools/install-deps test
