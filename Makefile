# Every target sets up what it needs, from python3 and make alone.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# More processes than cores share the tests (tests/conftest.py); a chosen path runs in one. WORKERS=n decides otherwise.
PYTEST = $(BIN)/python -m pytest -q --dist worksteal -n $(or $(WORKERS),$(if $(T),0,auto))
# Hundreds of tests start programs of ours: compiling them again each time takes half of their time.
unexport PYTHONDONTWRITEBYTECODE
# What the quick suite leaves out: long stories, and the folders that need other programs.
QUICK_SUITE = -m "not story" $(addprefix --ignore=tests/,real browser containers image)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED) ## create .venv with everything, .venv/bin/reflet included

$(INSTALLED): requirements/dev.lock pyproject.toml src/reflet/_version.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Reflet needs Python 3.11 or later, and $(PYTHON) is " + sys.version.split()[0] + ": make PYTHON=/path/to/python3.11")'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) has no venv module: on Debian, apt-get install python3-venv" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@# The lock is complete, so nothing is resolved: pip took a release newer than the pin for httpx2[http2], and refused it.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: install ## show what works, with no cluster at hand
	@$(BIN)/reflet demo

test: install ## the quick suite on all cores, four to seven minutes on two; T=tests/unit/api/test_meta.py runs what it names
	@$(PYTEST) $(if $(T)$(STORIES),,$(QUICK_SUITE)) $(T)

unit: install ## the tests of single files only
	@$(PYTEST) tests/unit

soak: install ## half an hour: chaos on both servers, a node that everything runs out of, and five minutes of quiet; REFLET_SEED tells another story
	@REFLET_CHAOS_SECONDS=$${REFLET_CHAOS_SECONDS:-125} REFLET_SOAK_SECONDS=$${REFLET_SOAK_SECONDS:-600} REFLET_QUIET_SECONDS=$${REFLET_QUIET_SECONDS:-300} $(BIN)/python -m pytest -q -rP --show-capture=stdout tests/integration/test_chaos.py tests/integration/test_node_soak.py tests/real/test_chaos.py tests/real/test_quiet.py

endurance: install ## is a test flaky? the quick suite ROUNDS=10 times while the machine is overloaded; T=path for others
	@$(BIN)/python -m tools.endurance --rounds $(or $(ROUNDS),10) -- $(or $(T),$(QUICK_SUITE))

fuzz: install ## other examples for every property, a hundred times as much nonsense for the parsers, and broken objects for both servers
	@REFLET_FUZZ=$${REFLET_FUZZ:-100} $(BIN)/python -m pytest -q tests/properties tests/real/test_devserver_mutations.py

# What looks at the code without running it takes one core each: two at a time.
check: install ## everything CI runs: format, lint, types, import contracts, documentation, tests and stories
	@$(MAKE) --no-print-directory -j2 style types docs audit
	@$(MAKE) --no-print-directory test STORIES=1

style: install ## format, lint and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

audit: install ## known vulnerabilities of everything that is pinned, where the advisories can be reached
	@$(BIN)/python -m tools.audit

# What mypy knows of unchanged files serves every clone: it compares what is in them.
MYPY = $(BIN)/mypy --cache-dir $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/reflet/mypy/$(@:types-%=%)
# What has to import on Windows: the library, `env`, `lint` and `why`.
ON_WINDOWS := $(addprefix src/reflet/,errors.py cluster.py gotext api store client informer resolution apirules insight \
	manifests controllers managers podconfig pods blocking transport adapters cli/main.py cli/event_loop.py \
	cli/stop_signals.py cli/options $(addprefix cli/commands/,env.py lint.py why.py))

types: types-linux types-darwin types-windows ## check types, as Linux, macOS and Windows have them

types-linux: install ## of everything, tests too
	$(MYPY)

types-darwin: install ## of the package, as macOS has it
	$(MYPY) --platform darwin src

types-windows: install ## of what has to import on Windows
	$(MYPY) --platform win32 --follow-imports silent --exclude 'volume_delivery|tab_words' $(ON_WINDOWS)

docs: install ## build the documentation into docs/_build, and check its links and the spelling
	$(BIN)/python -m sphinx --builder html --jobs auto --fail-on-warning --keep-going --quiet docs docs/_build
	$(BIN)/python -m docs.generators.site_check docs/_build
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md docs examples src/reflet

reference: install ## write what is generated in docs/reference again, from the code
	@$(BIN)/python -m docs.generators

format: install ## format the code and mend what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: install ## run the benchmarks, two hours; QUICK=1 is a look, under ten minutes
	@$(BIN)/python -m benchmarks $(if $(QUICK),--quick)

kube: ## build the real kube-apiserver and etcd for tests/real, once
	@sh tests/real/kube/build

containers: ## bring containerd, runc and what else tests/containers needs, once
	@sh tests/containers/build

kubelet: ## build the real kubelet that tests/containers compares with, once
	@sh tests/real/kube/build kubelet

browser: ## install what drives a browser for tests/browser, once; the browser is the system's chromium
	@sh tests/browser/build

pictures: install ## take the pictures of the terminal and of the page for the documentation again
	@$(BIN)/python -m docs.generators.why_picture
	@$(BIN)/python -m tests.browser.pictures
	@$(BIN)/python -m docs.generators.recording

image: ## build the images of deploy/Dockerfile for tests/image, without a registry; needs root
	@sh tests/image/build

helm: ## build Helm for the tests of the chart, once
	@sh tests/helm/build

lock: install ## choose the newest versions again and write requirements/*.lock
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --upgrade --generate-hashes --universal --python-version 3.11 --all-extras --group dev pyproject.toml -o requirements/dev.lock --custom-compile-command "make lock"
	$(BIN)/uv pip compile --quiet --upgrade --generate-hashes --universal --python-version 3.11 --constraint requirements/dev.lock pyproject.toml -o requirements/image.lock --custom-compile-command "make lock"
	$(BIN)/uv pip compile --quiet --upgrade --generate-hashes --universal --python-version 3.11 --constraint requirements/dev.lock --extra devserver --extra cel --group release pyproject.toml -o requirements/release.lock --custom-compile-command "make lock"

release: install ## make the release VERSION=1.2.3, signed by KEY=…, into dist/; DRY_RUN=1 tries all of it in a copy, REBUILD=1 builds again from the tag
	@$(BIN)/python -m tools.release $(VERSION) $(if $(KEY),--key $(KEY)) $(if $(DRY_RUN),--dry-run) $(if $(REBUILD),--rebuild)

clean: ## remove what the other targets made in this folder
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist docs/_build

.PHONY: help install style types types-linux types-darwin types-windows demo test unit soak endurance fuzz check audit docs reference format bench kube containers kubelet image browser pictures helm lock release clean
