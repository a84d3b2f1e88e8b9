# Commands for users and developers; everything runs in a virtual environment of its own.
PYTHON ?= python3
VENV := .venv
LOWEST := .venv-lowest

# one BLAS thread a process: the tests run in several processes
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MPLBACKEND := Agg

PYTEST := -m pytest -n 2 --dist=worksteal

# installing a browser needs root; whoever is root may have no sudo
AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo)

# the oldest releases the package promises to work with, and tools of their time
OLDEST := numpy==2.0.* scipy==1.13.* pandas==2.2.2 scikit-learn==1.6.0 \
	statsmodels==0.14.2 matplotlib==3.8.* pyparsing==3.1.* dp-accounting==0.6.* \
	opendp==0.12.* mpmath numpydoc==1.8.* pytest==8.2.* pytest-xdist==3.6.* \
	pytest-randomly==3.15.* pytest-timeout==2.3.* pytest-cov==5.* hypothesis==6.100.*

.PHONY: help demo test coverage test-slow test-page test-lowest lint bench clean

help:
	@echo "make demo         install the package and run examples/quickstart.py"
	@echo "make test         run the default tests"
	@echo "make coverage     run them with branch coverage; half as slow again"
	@echo "make lint         check metadata, style, types, layers, spelling, dependencies"
	@echo "make test-lowest  run the default tests on the oldest supported releases"
	@echo "make test-slow    run the heavy audits"
	@echo "make test-page    run the tests of the lookup page in a browser"
	@echo "make bench        measure accuracy and speed"
	@echo "make clean        remove the virtual environments"

demo: $(VENV)/.examples
	$(VENV)/bin/python examples/quickstart.py

test: $(VENV)/.test
	$(VENV)/bin/python $(PYTEST)

coverage: $(VENV)/.test
	$(VENV)/bin/python $(PYTEST) --cov --cov-report=term

test-slow: $(VENV)/.test
	$(VENV)/bin/python $(PYTEST) -m slow

test-page: $(VENV)/.page
	@command -v chromium >/dev/null || { $(AS_ROOT) apt-get update && \
		$(AS_ROOT) apt-get install --yes --no-install-recommends chromium; }
	$(VENV)/bin/python -m pytest -m page tests/page

# what is left out is mathematics, which does not depend on releases; the estimators
# that are tested here go through all of it
MATHEMATICS := proofs planted benchmarks samplers random mechanisms accounting audit \
	constant_work pdp solvers losses synthesis \
	common/test_every_mechanism.py common/test_every_loss.py

test-lowest: $(LOWEST)/.test
	$(LOWEST)/bin/python $(PYTEST) $(addprefix --ignore=tests/,$(MATHEMATICS))

lint: $(VENV)/.lint
	$(VENV)/bin/validate-pyproject pyproject.toml
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/codespell skdp tests docs examples benchmarks *.md
	$(VENV)/bin/deptry .

bench: $(VENV)/.test
	$(VENV)/bin/python benchmarks/frontier.py
	$(VENV)/bin/python benchmarks/speed.py
	$(VENV)/bin/python benchmarks/report_speed.py
	$(VENV)/bin/python benchmarks/metric_speed.py

clean:
	rm -rf $(VENV) $(LOWEST)

# a stamp is as new as the requirements it was made from
$(VENV)/.examples: pyproject.toml | $(VENV)/.pip
	$(VENV)/bin/pip install --quiet -e ".[examples]"
	touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/.pip
	$(VENV)/bin/pip install --quiet -e ".[examples]" --group test
	touch $@

$(VENV)/.lint: pyproject.toml $(VENV)/.test
	$(VENV)/bin/pip install --quiet --group lint
	touch $@

$(VENV)/.page: pyproject.toml $(VENV)/.test
	$(VENV)/bin/pip install --quiet --group page
	touch $@

$(LOWEST)/.test: pyproject.toml Makefile | $(LOWEST)/.pip
	$(LOWEST)/bin/pip install --quiet -e . $(OLDEST)
	touch $@

%/.pip:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
		{ echo "skdp needs Python 3.11 or newer; run: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $*
	$*/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@
