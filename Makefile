# `make demo` runs the main job on the built-in sample; `make test` passes the tests.
# Both set up everything they need in .venv first.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo test lint types imports unit coverage rest wheel docs clean

demo: $(VENV)/run.ready
	$(BIN)/eventide demo

test: lint types imports unit wheel

lint: $(VENV)/dev.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev.ready
	$(BIN)/mypy

imports: $(VENV)/dev.ready
	$(BIN)/lint-imports

# Every test runs once. Tracing branches costs about a third of the time of a test, so that coverage is
# measured by the tests of these rooms only (see [tool.coverage.report] in pyproject.toml).
MEASURED := corpus data features graphs losses networks opinions runners scoring storage training
ROOMS    := $(wildcard $(addprefix tests/,$(MEASURED))) $(addprefix src/eventide/,$(MEASURED))

unit: coverage rest

coverage: $(VENV)/dev.ready
	$(BIN)/python -m pytest --numprocesses 2 --cov --cov-report=term $(ROOMS)

rest: $(VENV)/dev.ready
	$(BIN)/python -m pytest --numprocesses 2 $(addprefix --ignore=,$(ROOMS))

# The wheel must work by itself: built, installed in a clean environment outside the checkout, run there.
wheel: $(VENV)/dev.ready
	@set -eu; away=$$(mktemp -d); trap 'rm -rf "$$away"' EXIT; \
	$(BIN)/python -m build --wheel --outdir "$$away" . >"$$away/build.log" 2>&1 || { cat "$$away/build.log"; exit 1; }; \
	$(BIN)/python -m venv "$$away/venv"; \
	"$$away/venv/bin/python" -m pip --disable-pip-version-check install --quiet --constraint constraints.txt "$$away"/eventide-*.whl; \
	cd "$$away" && EVENTIDE_DATA="$$away/data" "$$away/venv/bin/eventide" demo

docs: $(VENV)/docs.ready
	$(BIN)/mkdocs build --strict --quiet

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.ready: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable .
	@touch $@

$(VENV)/dev.ready: pyproject.toml constraints.txt .ci/components | $(VENV)/bin/python
	$(PIP) --editable '.[dev]'
	bash .ci/components
	@touch $@ $(VENV)/run.ready

$(VENV)/docs.ready: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[docs]'
	@touch $@ $(VENV)/run.ready

clean:
	rm -rf $(VENV) build dist site
