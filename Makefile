# The front door: each target is one preset or one script. `make help` lists them.
.DEFAULT_GOAL := build
JOBS  ?= 2
# One test more than there are cores: some wait for a disk or a server.
TESTS ?= $(shell expr $$(nproc) + 1)
T     ?= 30
export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)

.PHONY: help
help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "Variables: JOBS=$(JOBS) compile jobs, TESTS=$(TESTS) tests at a time, T=$(T) seconds per fuzz target"

.PHONY: deps
deps:  ## install missing Debian packages (needs root or sudo only when one is missing)
	@tools/deps.sh build

.PHONY: dev-deps
dev-deps:
	@tools/deps.sh dev

.PHONY: build
build: deps  ## configure and build; the command is build/bin/sotto
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release

.PHONY: test
test: build  ## build and run every test
	@TMPDIR=$$(tools/test_directory.sh) ctest --preset release -j $(TESTS) --output-on-failure

.PHONY: demo
demo: deps  ## a tour with invented data and the real command; writes demo-out/
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release --target sotto
	@demo/run.py build/bin/sotto demo-out

.PHONY: check
check: build  ## the rules: format, layers, names, references, words, every header compiles alone
	@ctest --preset release -L check
	@cmake --build --preset release --target all_verify_interface_header_sets

.PHONY: bench
bench: deps  ## build and run the benchmarks; results as JSON in build/bench/results
	@cmake --preset bench --log-level=WARNING
	@cmake --build --preset bench
	@tools/bench.sh build/bench

.PHONY: results
results: build  ## the table of README.md (ADULT=folder with adult.data, adult.test, adult.names; PEERS=folder with checkouts of others)
	@tools/results.py build/bin/sotto $(ADULT)
	@[ -z "$(PEERS)" ] || tools/peers.py $(ADULT) $(PEERS)

.PHONY: docs
docs:  ## the reference of the C++ interface in build/reference/html; a warning is an error
	@tools/deps.sh docs
	@mkdir -p build && doxygen docs/Doxyfile
	@echo "docs: build/reference/html/index.html"

.PHONY: fmt
fmt: dev-deps  ## format every C++ file
	@tools/check_format.sh --fix

.PHONY: lint
lint: deps dev-deps  ## clang-tidy over every source file (FILES="a.cpp b.cpp" for some)
	@cmake --preset lint --log-level=WARNING
	@tools/lint.py build/lint $(FILES)

.PHONY: asan
asan: deps  ## unit tests with the address and undefined-behaviour sanitizers
	@cmake --preset dev --log-level=WARNING
	@cmake --build --preset dev
	@TMPDIR=$$(tools/test_directory.sh) ctest --preset dev -j $(TESTS) -LE 'check|packaging'

.PHONY: tsan
tsan: deps  ## unit tests with the thread sanitizer
	@cmake --preset tsan --log-level=WARNING
	@cmake --build --preset tsan
	@TMPDIR=$$(tools/test_directory.sh) ctest --preset tsan -j $(TESTS) -LE 'check|packaging'

.PHONY: fuzz
fuzz: deps dev-deps  ## fuzz each entry point for T seconds
	@cmake --preset fuzz --log-level=WARNING
	@cmake --build --preset fuzz
	@tools/fuzz.sh build/fuzz $(T)

.PHONY: nightly
nightly:  ## what takes too long for make test: asan, tsan, fuzz (10 minutes a target), lint
	@$(MAKE) asan
	@$(MAKE) tsan
	@$(MAKE) fuzz T=600
	@$(MAKE) lint

.PHONY: package
package: build  ## Debian packages in build/package
	@cpack --config build/CPackConfig.cmake -B build/package

.PHONY: clean
clean:  ## remove what the targets above made
	@rm -rf build demo-out
