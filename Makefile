# Every target sets up what it needs, from python3 and make alone.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED) ## create .venv with everything, .venv/bin/reflet included

$(INSTALLED): requirements/dev.lock pyproject.toml src/reflet/_version.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Reflet needs Python 3.11 or later, and $(PYTHON) is " + sys.version.split()[0] + ": make PYTHON=/path/to/python3.11")'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) has no venv module: on Debian, apt-get install python3-venv" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: install ## show what works, with no cluster at hand
	@$(BIN)/reflet demo

test: install ## run every test; tests/real too when `make kube` has been run
	@$(BIN)/python -m pytest -q

soak: install ## half an hour: chaos on both servers, a node that everything runs out of, and five minutes of quiet; REFLET_SEED tells another story
	@REFLET_CHAOS_SECONDS=$${REFLET_CHAOS_SECONDS:-125} REFLET_SOAK_SECONDS=$${REFLET_SOAK_SECONDS:-600} REFLET_QUIET_SECONDS=$${REFLET_QUIET_SECONDS:-300} $(BIN)/python -m pytest -q -rP --show-capture=stdout tests/integration/test_chaos.py tests/integration/test_node_soak.py tests/real/test_chaos.py tests/real/test_quiet.py

fuzz: install ## a hundred times as much nonsense for the parsers, stories for the managers, and broken objects for both servers
	@REFLET_FUZZ=$${REFLET_FUZZ:-100} $(BIN)/python -m pytest -q tests/properties/test_parsers.py tests/properties/test_hostile_servers.py tests/properties/test_managers.py tests/real/test_devserver_mutations.py

check: install ## everything CI runs: format, lint, types, import contracts, documentation, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory docs
	@$(MAKE) --no-print-directory test

docs: install ## build the documentation; it is then in docs/_build
	$(BIN)/python -m sphinx --builder html --jobs auto --fail-on-warning --keep-going --quiet docs docs/_build

reference: install ## write what is generated in docs/reference again, from the code
	@$(BIN)/python -m docs.generators

format: install ## format the code and mend what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: install ## run the benchmarks, an hour; QUICK=1 is a look, under ten minutes
	@$(BIN)/python -m benchmarks $(if $(QUICK),--quick)

kube: ## build the real kube-apiserver and etcd for tests/real, once
	@sh tests/real/kube/build

browser: ## install what drives a browser for tests/browser, once; the browser is the system's chromium
	@sh tests/browser/build

pictures: install ## take the pictures of the page for the documentation again
	@$(BIN)/python -m tests.browser.pictures

helm: ## build Helm for the tests of the chart, once
	@sh tests/helm/build

lock: install ## choose the newest versions again and write requirements/*.lock
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --upgrade --generate-hashes --universal --python-version 3.11 --all-extras --group dev pyproject.toml -o requirements/dev.lock --custom-compile-command "make lock"
	$(BIN)/uv pip compile --quiet --upgrade --generate-hashes --universal --python-version 3.11 --constraint requirements/dev.lock pyproject.toml -o requirements/image.lock --custom-compile-command "make lock"

clean: ## remove what the other targets made in this folder
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist docs/_build

.PHONY: help install demo test soak fuzz check docs reference format bench kube browser pictures helm lock clean
