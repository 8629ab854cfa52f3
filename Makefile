# make run: set up and do the main job on real data.   make test: set up and pass the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
OUT ?= out

.PHONY: run test range lint types contracts check-all bench clean

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)

run: $(STAMP)
	$(BIN)/python examples/digits_kmeans.py --out $(OUT)

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 -q

# The whole range of profiles with hand-derived truths; make test runs a fifth of it.
range: $(STAMP)
	$(BIN)/python -m pytest -n 2 -q -m "slow or not slow" tests/profile_range

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

contracts: $(STAMP)
	$(BIN)/lint-imports

check-all: lint types contracts test

# Ratios to named peers or limits, measured in one run; see docs/benchmarks.md.
bench: $(STAMP)
	$(BIN)/python -m benchmarks.weights
	$(BIN)/python -m benchmarks.amplification
	$(BIN)/python -m benchmarks.supremum
	$(BIN)/python -m benchmarks.verify

clean:
	rm -rf $(VENV) $(OUT) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
