# Every target brings in what it needs first (install/setup.sh); `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# The go command, with the CUDA backend where its headers are.
GO := install/with-cuda.sh go
JUPYTER := .venv/bin/jupyter
PYTEST := .venv/bin/python -m pytest
# Prints go test's own lines, then the tests that failed or were skipped, and their numbers.
GOTEST := $(GO) run gotest.tools/gotestsum@v1.13.0 --format standard-quiet --
FUZZTIME ?= 20s

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## build, then train on MNIST in a notebook, without Jupyter
	@install/setup.sh demo
	@$(MAKE) bin/gradbook
	@bin/gradbook run notebooks/quickstart.ipynb -o out/quickstart.ipynb
	@grep -o 'test accuracy [0-9][0-9.]*%' out/quickstart.ipynb | tail -n 1
	@echo out/quickstart.ipynb

.PHONY: lab
lab: ## open JupyterLab with the kernel, at notebooks/
	@install/setup.sh lab
	@$(MAKE) venv-kernel
	$(JUPYTER) lab --notebook-dir=notebooks $(if $(filter 0,$(shell id -u)),--allow-root)

.PHONY: install
install: build ## build, and install the kernel for the current user
	bin/gradbook install --user

.PHONY: build
build: ## build bin/gradbook
	@install/setup.sh build
	@$(MAKE) bin/gradbook

# The go command knows best what is out of date.
.PHONY: bin/gradbook
bin/gradbook:
	@mkdir -p bin out
	$(GO) build -o bin/gradbook ./cmd/gradbook

# The kernel in .venv, so that neither tests nor JupyterLab need one in anybody's home.
.PHONY: venv-kernel
venv-kernel: bin/gradbook
	bin/gradbook install --prefix .venv

.PHONY: test
test: ## run every test: Go, Python, browser
	@install/setup.sh test
	@$(MAKE) venv-kernel
	@status=0; \
	$(GO) vet ./... || status=1; \
	$(GOTEST) -timeout 20m ./... || status=1; \
	$(GOTEST) -tags invariants ./gpu ./gpu/host || status=1; \
	$(PYTEST) kernel/frontends || status=1; \
	exit $$status

.PHONY: bench
bench: ## run every benchmark and print one table, out/bench.md too
	@install/setup.sh lab
	@$(MAKE) venv-kernel
	{ $(GO) test -p 1 -run '^$$' -bench . -benchmem ./... ; .venv/bin/python kernel/frontends/bench.py; } | go run ./cmd/benchtable | tee out/bench.md

.PHONY: mutate
mutate: ## break the code in each way that the fault tables name, and see a test fail
	@install/setup.sh build
	$(GO) run ./cmd/mutate

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (20s) each
	@install/setup.sh build
	@status=0; \
	for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -r -n 1 dirname | sort -u); do \
		for target in $$(grep -ho '^func Fuzz[A-Za-z0-9_]*' $$dir/*_test.go | cut -d ' ' -f 2); do \
			echo "$$dir $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$dir || status=1; \
		done; \
	done; \
	exit $$status

.PHONY: kernels
kernels: ## compile the GPU kernels' sources into the forms that are committed
	@install/setup.sh kernels
	$(GO) run ./gpu/kernels/build

.PHONY: symbols
symbols: ## regenerate what cells can import
	@install/setup.sh build
	go generate ./kernel/symbols

.PHONY: clean
clean: ## remove what was built; .venv goes too
	rm -rf bin out .venv .cache
