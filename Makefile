# make demo   order the album that comes with the package (base install only)
# make test   all tests, and beside them lint, types, layers, and a leg with nothing but the base install
# make bench  the benchmarks, as ratios
# make install-check  build the package and install it in fresh environments: the base alone, and everything
# make release-check  that, each extra alone, pipx, uvx, one file for people without Python, and types
# make site   the site, into build/site
# make lint   format check, lint, types, layers, bandit; the page's scripts, where there is npm
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_FLAGS := --quiet --disable-pip-version-check
unexport PYTHONDONTWRITEBYTECODE  # each process would compile all of it anew

.DEFAULT_GOAL := help
.PHONY: help demo test lint lint-js tests tests-base bench docs numbers site install-check release-check clean

help:
	@sed -n 's/^# //p' Makefile

# The virtual environment, and what is installed in it. Each stamp is rebuilt when what it depends on changes.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "fabula needs Python 3.11 or newer: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(PIP_FLAGS) --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.demo: $(VENV)/.created pyproject.toml
	$(BIN)/python -m pip install $(PIP_FLAGS) -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.created pyproject.toml constraints.txt
	$(BIN)/python -m pip install $(PIP_FLAGS) -c constraints.txt -e '.[all]' --group dev
	@touch $@ $(VENV)/.demo

# The page is tested in real browsers, loudness against ffmpeg: installed where that can be done without asking.
$(VENV)/.tools: $(VENV)/.created
	@command -v chromium >/dev/null && command -v firefox-esr >/dev/null && command -v ffmpeg >/dev/null && command -v mpd >/dev/null && command -v cueconvert >/dev/null && command -v mixxx >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq chromium firefox-esr ffmpeg mpd mpc cuetools >/dev/null && apt-get install -y -qq --no-install-recommends mixxx >/dev/null; } || echo "no chromium, firefox-esr, ffmpeg, mpd, cuetools or mixxx: the tests that need them are skipped" >&2
	@command -v chromium-headless-shell >/dev/null || [ "$$(id -u)" != 0 ] || apt-get install -y -qq chromium-headless-shell >/dev/null 2>&1 || true  # quicker than chromium, where it is to be had
	@touch $@

$(VENV)/base/.installed: $(VENV)/.created pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)/base
	$(VENV)/base/bin/python -m pip install $(PIP_FLAGS) -e . pytest pytest-timeout
	@touch $@

demo: $(VENV)/.demo
	@mkdir -p out
	@$(BIN)/fabula demo --to out

# What is installed first; then side by side: tests in a browser wait more than they compute.
test: $(VENV)/.dev $(VENV)/.tools $(VENV)/base/.installed
	@$(MAKE) --no-print-directory -j 2 --output-sync=line tests lint tests-base

lint: $(VENV)/.dev lint-js
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit -q -r src -c pyproject.toml

# The page's scripts: linted, and their types checked. Nothing of this is needed to serve them.
$(VENV)/page/.installed: $(VENV)/.created tests/web/lint/package.json
	@mkdir -p $(VENV)/page && cp tests/web/lint/* $(VENV)/page/
	@command -v npm >/dev/null && npm install --prefix $(VENV)/page --no-audit --no-fund --loglevel=error --fetch-timeout=20000 --fetch-retries=1 >/dev/null && touch $@ || echo "no npm, or nothing to be had by it: the page's scripts are not checked" >&2

lint-js: $(VENV)/page/.installed
	@[ ! -e $< ] || { rm -rf $(VENV)/page/scripts && cp -r src/fabula/web/static $(VENV)/page/scripts && cp tests/web/lint/*.js* $(VENV)/page/ && cd $(VENV)/page && node_modules/.bin/eslint scripts && node_modules/.bin/tsc -p .; }

tests: $(VENV)/.dev $(VENV)/.tools
	$(BIN)/python -m pytest -q -m "" -n 6 --doctest-modules src/fabula tests

tests-base: $(VENV)/base/.installed
	$(VENV)/base/bin/python -m pytest -q --confcutdir=tests/base tests/base

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

# What builds the site is little, and needs neither PyTorch nor a browser.
$(VENV)/.site: $(VENV)/.created pyproject.toml constraints.txt
	$(BIN)/python -m pip install $(PIP_FLAGS) -c constraints.txt -e . --group site
	@touch $@

site: $(VENV)/.site
	$(BIN)/python site/build.py build/site
	$(BIN)/python site/check.py build/site

docs: $(VENV)/.dev
	$(BIN)/python docs/fill_commands.py
	$(BIN)/python release/licences.py

numbers: $(VENV)/.dev
	$(BIN)/python -m benchmarks.check_numbers

install-check: $(VENV)/.created
	$(BIN)/python release/check.py build base all

release-check: $(VENV)/.created
	$(BIN)/python release/check.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
