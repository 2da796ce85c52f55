# Two commands do everything on a fresh machine: `make demo` and `make test`. They need Python, pip, venv and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BARE := .venv-bare
AUDIT := .venv-audit
LOWEST := .venv-lowest
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
FILES := src tests benchmarks examples docs/hooks
export PIP_NO_INPUT := 1

.PHONY: demo test slow lint bare lowest portable long bench docs audit sbom clean

demo: $(VENV)/.installed
	@mkdir -p demo
	$(BIN)/classay report breast_cancer --budget 1m --force -o demo/report.html
	@echo "The page: $(CURDIR)/demo/report.html"

test: lint bare
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

# The tests above a second of processor time.
slow: $(VENV)/.tested
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

lint: $(VENV)/.tested
	$(BIN)/ruff check $(FILES)
	$(BIN)/ruff format --check $(FILES)
	$(BIN)/mypy

# The core alone, in an environment without extras (no torch, no dask, no pyarrow): imports, one run of each command, and
# the refusals that name the extra. All else is the same with extras, and tested there.
bare: $(BARE)/.installed
	CLASSAY_BARE=1 $(BARE)/bin/python -m pytest -q -n 2 --dist worksteal tests/bare

# The numeric tests as on other processors, where the last bits of results differ.
portable: $(VENV)/.tested
	$(BIN)/python tests/portable.py -n 2 --dist worksteal

# The core on the lowest declared versions. Their own deprecation warnings are no failure.
lowest: $(LOWEST)/.installed
	CLASSAY_BARE=1 $(LOWEST)/bin/python -m pytest -q -n 2 --dist worksteal -o filterwarnings=default tests/bare \
	    tests/tables tests/estimators tests/regions tests/learner/records tests/classes/ranks tests/test_splits.py \
	    --deselect "tests/tables/test_expressions.py::test_kinds_that_cannot_be_compared[text4-too large]"

long: $(VENV)/.tested
	$(BIN)/python -m pytest -o addopts="-ra" tests/long -s
	CLASSAY_FUZZ=8 $(BIN)/python -m pytest -q -n 2 --dist worksteal tests/fuzz

bench: $(VENV)/.tested
	$(BIN)/python $(PIP_INSTALL) --group bench
	for script in entropy_benchmark orientation_speed record_overhead against_mlxtend; do \
	    $(BIN)/python benchmarks/$$script.py || exit 1; done

# The site, built without network. `make test` runs every example in it. Not --quiet: that would let broken links pass.
docs: $(VENV)/.documented
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "Site: $(CURDIR)/site/index.html"

# Known advisories of the lowest declared versions and of those installed. It needs the network, so `make test` lacks it.
audit: $(VENV)/.tested
	$(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/python $(PIP_INSTALL) pip-audit
	$(PYTHON) tests/declared_floors.py > $(AUDIT)/floors.txt
	$(AUDIT)/bin/pip-audit --strict --vulnerability-service osv --disable-pip --no-deps -r $(AUDIT)/floors.txt
	$(AUDIT)/bin/pip-audit --vulnerability-service osv --skip-editable \
	    --path "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

# What is installed, as CycloneDX: sbom.json.
sbom: $(VENV)/.installed
	$(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/python $(PIP_INSTALL) cyclonedx-bom
	$(AUDIT)/bin/cyclonedx-py environment --pyproject pyproject.toml --of JSON -o sbom.json $(BIN)/python
	@echo "Bill of materials: $(CURDIR)/sbom.json"

clean:
	rm -rf $(VENV) $(BARE) $(AUDIT) $(LOWEST) sbom.json demo runs build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP_INSTALL) --upgrade "pip>=25.1"
	$(BIN)/python $(PIP_INSTALL) -e .
	touch $@

$(VENV)/.tested: $(VENV)/.installed
	$(BIN)/python $(PIP_INSTALL) --group test --group lint
	touch $@

$(VENV)/.documented: $(VENV)/.installed
	$(BIN)/python $(PIP_INSTALL) --group docs
	touch $@

$(LOWEST)/.installed: pyproject.toml
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python $(PIP_INSTALL) --upgrade "pip>=25.1"
	$(PYTHON) tests/declared_floors.py core > $(LOWEST)/floors.txt
	$(LOWEST)/bin/python $(PIP_INSTALL) -r $(LOWEST)/floors.txt pytest pytest-xdist hypothesis
	$(LOWEST)/bin/python $(PIP_INSTALL) --no-deps -e .
	touch $@

$(BARE)/.installed: pyproject.toml
	$(PYTHON) -m venv $(BARE)
	$(BARE)/bin/python $(PIP_INSTALL) --upgrade "pip>=25.1"
	$(BARE)/bin/python $(PIP_INSTALL) -e . pytest pytest-xdist hypothesis
	touch $@
