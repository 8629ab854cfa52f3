# make run: set up and do the main job on real data.   make test: set up and pass the quick tests.   make test-all: all of them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
OUT ?= out

.PHONY: run test test-all formal second-opinion verified properties range soundness account-sweep mutants guards exact-instances lint types contracts check-all bench bench-peers bench-accountants study study-onesided study-delta study-delta-lloyd weights-delta bench-engines test-engines test-ledger test-interop test-browser test-portable test-site dist test-wheel audit-suite audit-calibration docs clean study-kmeans

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)

run: $(STAMP)
	$(BIN)/python examples/digits_kmeans.py --out $(OUT)
	$(BIN)/python examples/private_centres.py --out $(OUT)
	@printf '\nTo have pdp in this shell:\n. %s/activate\npdp --help\n' "$(BIN)"

# Bytecode is kept also where the environment says otherwise: a hundred tests start Python anew. Modules that need an extra have their
# examples run by test-interop.
test: $(STAMP)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal -q
	$(BIN)/python -m pytest -n 2 -q --doctest-modules --doctest-ignore-import-errors accountant profiles proofs_check

# The quick tests and then the thorough ones: CONTRIBUTING.md.
test-all: test
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal -q -m "thorough and not slow"

# The rules of guarantees and the checker of pdp check --verified, proved in Coq: compiled from scratch, wrong ones refused (docs/formal.md).
formal: $(STAMP)
	$(BIN)/python -m tests.formal.compile
	$(BIN)/python -m tests.formal.reals
	$(BIN)/python -m tests.coq.verified

# The share of the goals of certificates that Coq confirms, of each EVERY-th profile of the range suite: docs/formal.md.
EVERY ?= 6
second-opinion: $(STAMP)
	$(BIN)/python -m tests.coq.share $(EVERY)

# Likewise, which share the checker that is proved right verifies: docs/formal.md.
verified: $(STAMP)
	$(BIN)/python -m tests.coq.share $(EVERY) verified

# The laws once more, with fresh random examples instead of the same ones in every run; a failure is found again by the printed blob.
properties: $(STAMP)
	$(BIN)/python -m pytest -n 2 -q --dist worksteal --hypothesis-profile=fresh -m "hypothesis and not slow"

# Guarantees as OpenDP measurements and dp_accounting events: docs/interoperability.md.
INTEROP := $(VENV)/.interop
$(INTEROP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,opendp,dp-accounting]'
	touch $(INTEROP)

# Trainers, each in an environment of its own (Opacus brings PyTorch, of about 5 GB): docs/trainers.md.
TRAINERS := $(VENV)/trainers
$(TRAINERS)/%/.installed: $(STAMP)
	$(PYTHON) -m venv $(TRAINERS)/$*
	$(TRAINERS)/$*/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[scikit-learn]' pytest hypothesis $*
	touch $@

# diffprivlib 0.6.6 does not load with scikit-learn 1.7 and later.
$(TRAINERS)/diffprivlib/.installed: $(STAMP)
	$(PYTHON) -m venv $(TRAINERS)/diffprivlib
	$(TRAINERS)/diffprivlib/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[scikit-learn]' pytest hypothesis diffprivlib 'scikit-learn<1.7'
	touch $@

# TensorFlow Privacy 0.9.0 needs the estimators that TensorFlow had until 2.15.
$(TRAINERS)/tensorflow-privacy/.installed: $(STAMP)
	$(PYTHON) -m venv $(TRAINERS)/tensorflow-privacy
	$(TRAINERS)/tensorflow-privacy/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[scikit-learn]' pytest hypothesis tensorflow-privacy==0.9.0 'tensorflow<2.16'
	touch $@

test-interop: $(INTEROP) $(TRAINERS)/opacus/.installed $(TRAINERS)/jax-privacy/.installed $(TRAINERS)/flwr/.installed $(TRAINERS)/diffprivlib/.installed $(TRAINERS)/pipeline-dp/.installed $(TRAINERS)/tensorflow-privacy/.installed
	$(BIN)/python -m pytest -q -m "not slow" tests/interop
	$(TRAINERS)/opacus/bin/python -m pytest -q tests/interop/test_opacus.py tests/interop/test_loaders.py tests/interop/test_docs.py -k "opacus or loaders"
	$(TRAINERS)/jax-privacy/bin/python -m pytest -q tests/interop/test_jax_privacy.py tests/interop/test_docs.py -k "jax_privacy"
	$(TRAINERS)/flwr/bin/python -m pytest -q -W ignore::DeprecationWarning tests/interop/test_flower.py tests/interop/test_docs.py -k "flower or flwr"
	$(TRAINERS)/diffprivlib/bin/python -m pytest -q -W ignore::DeprecationWarning tests/interop/test_budgets.py tests/interop/test_docs.py -k "diffprivlib"
	$(TRAINERS)/pipeline-dp/bin/python -m pytest -q -W ignore::DeprecationWarning tests/interop/test_budgets.py tests/interop/test_docs.py -k "pipeline_dp"
	$(TRAINERS)/tensorflow-privacy/bin/python -m pytest -q -W ignore::DeprecationWarning tests/interop/test_tensorflow_privacy.py tests/interop/test_docs.py -k "tensorflow"
	$(BIN)/python -m pytest -q --doctest-modules --doctest-ignore-import-errors accountant/interop

# Wheel and sdist, checked; the wheel installed in a clean environment of each Python that is here, and used outside of this folder.
DIST_PYTHONS ?= python3.11 python3.12 python3.13
DIST_TOOLS := $(VENV)/dist-tools
$(DIST_TOOLS): $(STAMP)
	$(PYTHON) -m venv $(DIST_TOOLS)
	$(DIST_TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check build cffconvert check-wheel-contents twine

dist: $(DIST_TOOLS)
	rm -rf dist
	$(DIST_TOOLS)/bin/cffconvert --validate -i CITATION.cff
	$(DIST_TOOLS)/bin/python -m build
	$(DIST_TOOLS)/bin/twine check --strict dist/*
	$(DIST_TOOLS)/bin/check-wheel-contents dist/*.whl
	$(PYTHON) tests/packaging/install_and_smoke.py dist $(DIST_PYTHONS)

# All commands and programs of the pages with the wheel that make dist has built, in a clean environment and outside of this folder.
test-wheel: $(STAMP)
	$(PYTHON) tests/packaging/run_pages.py dist $(PYTHON)

# Weights and samples inside DuckDB, Polars and Spark: docs/engines.md. Spark needs Java (Debian: apt-get install openjdk-17-jre-headless).
ENGINES := $(VENV)/.engines
$(ENGINES): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,duckdb,polars,spark]'
	touch $(ENGINES)

test-engines: $(ENGINES)
	$(BIN)/python -m pytest -q -m "not slow" tests/engines

# Four writers of one ledger, of which KILLS are killed one after the other at random moments; and each bit of a small ledger in chunks
# flipped once, and FLIPS bits of one in pages.
# The laws and the kills also on a PostgreSQL server, which is started for it (Debian: apt-get install postgresql), and skipped without.
LEDGER := $(VENV)/.ledger
$(LEDGER): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,postgres]'
	touch $(LEDGER)

KILLS ?= 1000
FLIPS ?= 100000
test-ledger: $(LEDGER)
	KILLS=$(KILLS) FLIPS=$(FLIPS) $(BIN)/python -m pytest -q -s -m slow tests/ledger

# CPython in WebAssembly, of one version whose files have known hashes: docs/report.md. Its tests are skipped where it cannot be had.
RUNTIME := $(VENV)/runtime/node_modules/pyodide
$(RUNTIME): $(STAMP)
	npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix $(VENV)/runtime pyodide@314.0.7
	touch $(RUNTIME)

# The report in a headless Chromium at two window sizes, in print and in the dark, with axe-core's rules of accessibility.
# Debian: apt-get install chromium chromium-driver npm.
BROWSER := $(VENV)/.browser
$(BROWSER): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,browser]'
	npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix $(VENV)/axe axe-core@4
	touch $(BROWSER)

test-browser: $(BROWSER) $(RUNTIME)
	PYODIDE=$(RUNTIME) AXE_CORE=$(VENV)/axe/node_modules/axe-core/axe.min.js $(BIN)/python -m pytest -q -m browser tests/report

# The kernel on each Python that is installed, and in WebAssembly under node: docs/trust.md. About five minutes.
test-portable: $(STAMP) $(RUNTIME)
	PYODIDE=$(RUNTIME) $(BIN)/python -m pytest -q -rs -m "slow or not slow" tests/portable

# Every page of the documentation site in that browser, about five minutes.
test-site: $(BROWSER) docs
	SITE=$(OUT)/site AXE_CORE=$(VENV)/axe/node_modules/axe-core/axe.min.js $(BIN)/python -m pytest -q -m browser tests/documentation/test_site_browser.py

# Time a row and peak memory, 10^5 to 10^8 rows from Parquet to Parquet, and the engines at 10^6 and 10^7; needs 8 GB of disk for a while.
bench-engines: $(ENGINES)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.rows

# The whole range of profiles with hand-derived truths; make test runs three parts of twenty.
range: $(STAMP)
	$(BIN)/python -m pytest -n 2 -q -m "slow or not slow" tests/profile_range

# Attacks on the kernel: MUTANTS times as many as in make test; and its 400 guards taken out one by one (ten minutes of processor time).
MUTANTS ?= 10
mutants: $(STAMP)
	MUTANTS=$(MUTANTS) $(BIN)/python -m pytest -n 2 -q -s -m "slow or not slow" tests/mutants

guards: $(STAMP)
	$(BIN)/python -m tests.mutants.remove_guards

# Random instances of repeated mechanisms, exact against certified: INSTANCES times as many as in make test (40: 30,000, about two minutes of processor time).
INSTANCES ?= 40
exact-instances: $(STAMP)
	INSTANCES=$(INSTANCES) $(BIN)/python -m pytest -n 2 -q -k random -m "not slow" tests/exact/test_ghazi.py

# The documentation site, into out/site; a warning is an error. Nothing in it is loaded from elsewhere.
DOCS := $(VENV)/.docs
$(DOCS): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,docs]'
	touch $(DOCS)

docs: $(DOCS) $(if $(shell command -v npm),$(RUNTIME))
	rm -rf $(OUT)/site
	$(BIN)/python -m sphinx -q -W --keep-going -E -b html -d $(OUT)/site-doctrees docs $(OUT)/site
	if [ -e $(RUNTIME) ]; then $(BIN)/python docs/_site/checking.py $(RUNTIME) $(OUT)/site/check.html; else echo "no npm: the page that checks certificates is left out (docs/report.md)"; fi
	@echo "open $(OUT)/site/index.html"

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

contracts: $(STAMP)
	$(BIN)/lint-imports --no-cache

check-all: lint types contracts test-all

# Random profiles against points at 90 digits, for as long as you like; prints counts, stops at a contradiction.
SECONDS ?= 600
SEED ?= 1
soundness: $(STAMP)
	$(BIN)/python tests/soundness/long_run.py $(SECONDS) $(SEED)

# Weights under Gaussian noise in random settings, each evaluated by another method: 100,000 of one step take about a quarter of an hour, and
# 1,000 of several steps about two minutes.
WEIGHTS ?= 100000
WEIGHTS_STEPS ?= 1000
weights-delta: $(STAMP)
	$(BIN)/python -m tests.weights.gaussian.survey --settings $(WEIGHTS) --several $(WEIGHTS_STEPS)

# The (ε, δ) accountant against true values by other methods: 57 settings by hand and SETTINGS random ones, some seconds each. It resumes where
# it stopped; exit code 1 after a contradiction. FAST=1: only random ones, about a second each. CALIBRATION=1: 200 random targets as well.
SETTINGS ?= 200
account-sweep: $(STAMP)
	mkdir -p $(OUT)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.soundness.account_sweep $(SETTINGS) $(SEED) $(if $(FAST),--fast) \
		--out $(OUT)/account-sweep-$(SEED)$(if $(FAST),-fast).jsonl
	$(if $(CALIBRATION),$(BIN)/python -m pytest -q -m "slow or not slow" tests/calibration/test_targets.py)

# Ratios to named peers or limits, measured in one run; see benchmarks/results/ratios.md.
bench: $(STAMP)
	$(BIN)/python -m benchmarks.weights
	$(BIN)/python -m benchmarks.gaussian_weights
	$(BIN)/python -m benchmarks.amplification
	$(BIN)/python -m benchmarks.supremum
	$(BIN)/python -m benchmarks.verify
	$(BIN)/python -m benchmarks.checking
	$(BIN)/python -m benchmarks.sampler
	$(BIN)/python -m benchmarks.lloyd
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.exact_noise
	$(BIN)/python -m benchmarks.greedy
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.matroids
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.private_kmeans

# Audits of the standard suite, of the accountant's claims about the catalogue and of its broken twins: fails on a false alarm or a miss.
SAMPLES ?= 20000
audit-suite: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.audit_suite --samples $(SAMPLES)

# The rate of bounds above the exact epsilon, 3,000 audits of each correct mechanism in each mode: about an hour.
audit-calibration: $(STAMP)
	$(BIN)/python -m pytest -q -m slow tests/audit/core/test_calibration.py
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.audit_calibration

# The conditions given to SymPy alone, z3 and cvc5, beside ours: up to 10 s for each of 240 statements and tool.
bench-peers: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[peers]'
	$(BIN)/python -m benchmarks.deciders

# Accountants of other libraries beside ours, each in an environment of its own (Opacus' accountants need no PyTorch): about half an hour.
ACCOUNTANTS := $(VENV)/accountants
$(ACCOUNTANTS)/.installed: $(STAMP)
	for name in dp-accounting prv-accountant opendp autodp opacus; do $(PYTHON) -m venv $(ACCOUNTANTS)/$$name; done
	for name in dp-accounting prv-accountant opendp; do $(ACCOUNTANTS)/$$name/bin/pip install --quiet --disable-pip-version-check $$name; done
	$(ACCOUNTANTS)/autodp/bin/pip install --quiet --disable-pip-version-check autodp 'scipy<1.14' 'numpy<2'
	$(ACCOUNTANTS)/opacus/bin/pip install --quiet --disable-pip-version-check numpy scipy opt_einsum
	$(ACCOUNTANTS)/opacus/bin/pip install --quiet --disable-pip-version-check --no-deps opacus
	touch $@

bench-accountants: $(ACCOUNTANTS)/.installed
	$(BIN)/python -m benchmarks.accountants --peers $(ACCOUNTANTS)
	$(BIN)/python -m benchmarks.accountants.speed --peers $(ACCOUNTANTS)

# The experiments of the paper again (benchmarks/results/study.md): about half an hour on 2 cores; FULL=1 takes a day or more. It resumes where it stopped.
# Compares with the authors' code where AUTHORS=DIR (and AUTHORS_PYTHON=FILE) name a checkout of it that runs.
STUDY_OUT ?= $(OUT)/study
study: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.study --out $(STUDY_OUT) $(if $(FULL),--full) \
		$(if $(AUTHORS),--authors $(AUTHORS)) $(if $(AUTHORS_PYTHON),--authors-python $(AUTHORS_PYTHON))

# Error of the one-sided algorithms beside the theorems of Ghazi et al. (benchmarks/results/onesided.md): below 15 minutes on 2 cores; FULL=1 takes
# hours. It resumes where it stopped.
STUDY_ONESIDED_OUT ?= $(OUT)/study-onesided
study-onesided: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.onesided --out $(STUDY_ONESIDED_OUT) $(if $(FULL),--full)

# DP-Lloyd with Laplace and with normal noise (benchmarks/results/delta-lloyd.md): below half an hour on 2 cores. It resumes where it stopped.
STUDY_DELTA_LLOYD_OUT ?= $(OUT)/study-delta-lloyd
study-delta-lloyd: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.delta_lloyd --out $(STUDY_DELTA_LLOYD_OUT) $(if $(FULL),--full)

# Importance sampling under (epsilon, delta), with DP-SGD (benchmarks/results/delta.md): about half an hour on 2 cores. It resumes where it stopped.
# Compares with dp_accounting where DP_ACCOUNTING_PYTHON=FILE names an interpreter that has it.
STUDY_DELTA_OUT ?= $(OUT)/study-delta
study-delta: study-delta-lloyd
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.delta --out $(STUDY_DELTA_OUT) $(if $(FULL),--full) \
		$(if $(DP_ACCOUNTING_PYTHON),--peer-python $(DP_ACCOUNTING_PYTHON))

# Private k-means beside its peers (benchmarks/results/kmeans.md): about an hour on 2 cores with the peers. It resumes where it stopped. Peers have
# environments of their own; Google's clustering needs GOOGLE=DIR, a checkout of google/differential-privacy, and is left out without.
STUDY_KMEANS_OUT ?= $(OUT)/study-kmeans
KMEANS_PEERS := $(VENV)/kmeans-peers
$(KMEANS_PEERS)/.installed: $(STAMP)
	$(PYTHON) -m venv $(KMEANS_PEERS)/diffprivlib
	$(KMEANS_PEERS)/diffprivlib/bin/pip install --quiet --disable-pip-version-check diffprivlib 'scikit-learn<1.7'
	touch $@

$(KMEANS_PEERS)/google/.installed: $(STAMP)
	$(PYTHON) -m venv $(KMEANS_PEERS)/google
	$(KMEANS_PEERS)/google/bin/pip install --quiet --disable-pip-version-check absl-py dp-accounting scikit-learn
	cp -r $(GOOGLE)/learning $(KMEANS_PEERS)/google/learning
	touch $@

study-kmeans: $(KMEANS_PEERS)/.installed $(if $(GOOGLE),$(KMEANS_PEERS)/google/.installed)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.kmeans --out $(STUDY_KMEANS_OUT) --peers $(KMEANS_PEERS) $(if $(FULL),--full)

clean:
	rm -rf $(VENV) $(OUT) docs/_generated build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
