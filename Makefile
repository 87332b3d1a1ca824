# raidlab: `make` lists the targets. Everything is set up in .venv; nothing else is touched.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests start hundreds of Python processes: each would compile the sources anew, and in a folder of
# their own (PYTHONPYCACHEPREFIX) all that pip has compiled, too.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --quiet --numprocesses auto --maxprocesses 8 \
	--dist worksteal
CARGO_TEST := cargo test --workspace --quiet --lib --bins --tests --examples
# Tests of the collector wait for fio and its devices most of their time.
RUST_TEST_THREADS ?= 8
export RUST_TEST_THREADS
RUST_SOURCES := $(shell git ls-files '*.rs' 'Cargo.toml' '*/Cargo.toml' Cargo.lock 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help setup fast demo test test-rust rust-tests test-python fuzz lint lint-rust lint-python format bench docs schema site wheel sdist \
	calibrate-catalogue datasheets fits-evidence twin-evidence hidden-evidence hosts lab-site \
	lab-evidence \
	lab-numbers lab-jupyter lab-gallery lab-start plan-questions examples pictures lock clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "make %-20s %s\n", $$1, $$2 }'

setup: $(VENV)/.ready ## Make .venv and build raidlab into it

# Built again when the packaging or any Rust source changes; Python is used where it lies. What is
# imported is compiled: all 12,000 files of the libraries would take a minute of a core.
$(VENV)/.ready: pyproject.toml $(RUST_SOURCES)
	@tools/check-toolchain $(PYTHON)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --no-compile --upgrade "pip>=25.1"
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --no-compile --editable . --group dev
	@$(BIN)/python tools/compile-imports
	@touch $@

fast: $(VENV)/.fast ## Profile-guided build of the engine: 10 to 20 % faster, same results

$(VENV)/.fast: $(VENV)/.ready
	@tools/train $(BIN)/python
	@touch $@

demo: setup ## Published and measured drives beside simulated ones: a table and validation.html
	@$(BIN)/raidlab validate --html validation.html || test $$? -eq 1
	@echo "Open validation.html in a browser. Next: docs/tutorials/first-run.md"

test: setup ## Run all Rust and Python tests
	@tools/get-fio
	$(CARGO_TEST)
	$(PYTEST)

test-rust: ## Run the Rust tests alone
	@tools/check-toolchain $(PYTHON)
	$(CARGO_TEST)

rust-tests: # Compiled alone, so that it can go on beside the engine's own build
	$(CARGO_TEST) --no-run

test-python: setup ## Run the Python tests alone
	$(PYTEST)

FUZZ_SECONDS ?= 3600
FUZZ_SEED ?= 1

fuzz: setup ## Try changed inputs of every kind: FUZZ_SECONDS each, 3600 by default, from FUZZ_SEED
	RAIDLAB_FUZZ_SECONDS=$(FUZZ_SECONDS) RAIDLAB_FUZZ_SEED=$(FUZZ_SEED) $(BIN)/pytest -s tests/fuzz tests/devices/test_mutations.py

lint: lint-rust lint-python ## Check format, lints and types; warnings are errors

lint-rust: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --features raidlab-binding/extension-module --quiet -- -D warnings

lint-python: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	git ls-files "*.md" "*.py" "*.rs" "*.toml" "*.j2" | xargs $(BIN)/codespell
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy

format: setup ## Format all sources
	cargo fmt --all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup ## Measure speed beside SimPy, with the goals; of the trained engine where it can be built
	-@$(MAKE) --no-print-directory fast
	cargo build --release --quiet --package raidlab-engine --examples
	$(BIN)/python benchmarks/speed.py

EVIDENCE := docs/evidence/validation.md
CLAIMS := docs/evidence/claims.md
ADVICE := docs/evidence/advice.md
PICTURE := docs/pictures/published-and-simulated.svg

docs: setup ## Make the pages and pictures that commands make
	@$(BIN)/raidlab validate --markdown $(EVIDENCE) --csv $(EVIDENCE:.md=.csv) --json > target/validation.json || test $$? -eq 1
	@$(BIN)/raidlab validate --claims --markdown $(CLAIMS) --csv $(CLAIMS:.md=.csv) \
		--json > target/claims.json || test $$? -eq 1
	@$(BIN)/python -m raidlab.calibration.published.advice target/validation.json target/claims.json $(ADVICE)
	@$(BIN)/python -m raidlab.calibration.report.published_picture target/validation.json $(PICTURE)
	@$(BIN)/raidlab devices --markdown > docs/reference/catalogue.md
	@echo "wrote $(EVIDENCE) $(CLAIMS) $(ADVICE) $(PICTURE) docs/reference/catalogue.md"

SCHEMAS := devices/schemas/device devices/schemas/sheet scenarios/schemas/scenario scenarios/schemas/question

# Unions and enums of the plan keep their names.
PLAN_TYPES := --use-title-as-name --no-collapse-root-models --no-use-closed-typed-dict \
	--custom-file-header '"""A plan, as the engine takes it: made from its types by `make schema`."""'

# A scenario as it is written: a class a table of the file.
TREE_TYPES := --no-use-closed-typed-dict \
	--custom-file-header '"""A scenario as its file has it: made from its schema by `make schema`."""'

schema: setup ## Make the JSON Schema of files, and the types of what crosses to the engine
	@for each in $(SCHEMAS); do $(BIN)/raidlab schema $${each##*/} > $$each.json; done
	@$(BIN)/python -c "from raidlab.scenarios import _engine; print(_engine.result_schema())" | \
		$(BIN)/datamodel-codegen --output scenarios/spec/run_result.py
	@$(BIN)/python -c "from raidlab.scenarios import _engine; print(_engine.plan_schema())" | \
		$(BIN)/python tools/plan_bounds.py --types | \
		$(BIN)/datamodel-codegen $(PLAN_TYPES) --output devices/plan_types.py
	@$(BIN)/python -c "from raidlab.scenarios import _engine; print(_engine.plan_schema())" | \
		$(BIN)/python tools/plan_bounds.py > devices/plan_bounds.py
	@sed -e '/^ "title"/d' -e 's/Table"/Tree"/g' scenarios/schemas/scenario.json | \
		$(BIN)/datamodel-codegen $(TREE_TYPES) | sed -e '/^Model: /d' -e 's/, TypeAlias//' | \
		$(BIN)/ruff format - > scenarios/spec/trees.py

site: $(VENV)/.docs ## Make the documentation as a site in site/: it needs nothing from outside
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "Open site/index.html in a browser."

$(VENV)/.docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

lab-site: setup ## Write the lab into lab-site/, pages that need no Python: put them on any web server
	@$(BIN)/raidlab lab --site lab-site

lab-evidence: setup ## Measure every room in headless Chromium: docs/evidence/lab.md
	$(BIN)/python benchmarks/lab.py --page docs/evidence/lab.md

lab-numbers: setup ## Compare all settings of all rooms with independent numbers: docs/evidence/lab-numbers.md
	$(BIN)/python -m tests.notebooks.numbers --page docs/evidence/lab-numbers.md

lab-start: setup ## Time the way from a fresh clone to a moving slider: docs/evidence/lab-start.md
	$(BIN)/python benchmarks/lab_start.py --page docs/evidence/lab-start.md

lab-jupyter: setup ## Run every room as a Jupyter notebook: docs/evidence/lab-jupyter.md
	@$(BIN)/python -m pip install --quiet --group jupyter
	$(BIN)/python benchmarks/lab_jupyter.py --page docs/evidence/lab-jupyter.md

plan-questions: setup ## Ask the ten questions of scenarios/library/plans: docs/evidence/questions.md
	$(BIN)/python benchmarks/questions.py --page docs/evidence/questions.md

examples: setup ## Run the files in examples/ and write their outputs into them
	$(BIN)/python benchmarks/examples.py

pictures: setup ## Draw the pictures of the README: pages, a session, badges
	$(BIN)/python benchmarks/pictures.py

lab-gallery: setup ## Draw every room for docs/course/gallery.md
	$(BIN)/python benchmarks/lab.py --pictures docs/pictures/lab

lock: setup ## Write requirements-dev.lock: the versions that .venv has
	$(BIN)/pip freeze --exclude-editable > requirements-dev.lock

wheel: $(VENV)/.release ## Build a wheel for Python 3.11 and newer, and try it on every one that is here
	@rm -rf dist/*.whl
	$(BIN)/python -m build --wheel --outdir dist .
	tools/check-wheel dist/*.whl

sdist: $(VENV)/.release ## Pack the sources
	$(BIN)/python -m build --sdist --outdir dist .

$(VENV)/.release: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --group release
	@touch $@

datasheets: setup ## Make the catalogue's devices that come from data sheets, and their evidence
	@$(BIN)/python -m raidlab.calibration.datasheets.catalogue

calibrate-catalogue: setup ## Fit the catalogue's devices to published figures; goes on where it was stopped
	@$(BIN)/python -m raidlab.calibration.published.catalogue

hosts: setup ## Fit HOST to MEASUREMENTS of several drives, and leave each drive out
	@$(BIN)/python -m raidlab.calibration.fitting.estimation.hosts $(HOST) $(MEASUREMENTS)

fits-evidence: setup ## Fit the measured sets in MEASUREMENTS, into docs/evidence/fits.md; fails beyond their bounds
	@$(BIN)/python -m raidlab.calibration.fitting.evidence $(MEASUREMENTS) --page docs/evidence/fits.md

twin-evidence: setup ## Fit the targets in MEASUREMENTS by law, into docs/evidence/twin.md; fails beyond their bounds
	@$(BIN)/python -m raidlab.calibration.twin.evidence $(MEASUREMENTS) --page docs/evidence/twin.md

hidden-evidence: setup ## Make twins of twelve simulated systems and judge them, into docs/evidence/twin.md
	@$(BIN)/python -m raidlab.calibration.twin.hidden --page docs/evidence/twin.md

clean: ## Remove everything that was built
	rm -rf $(VENV) target build dist site lab-site *.egg-info raidlab.egg-info validation.html
	find . -name '_engine*.so' -not -path './$(VENV)/*' -delete
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
