# Everything a contributor runs. Each target makes .venv on first use and then works offline; a stamp file per set of
# extras says that it is there. PYTHON=python3.12 make test picks another interpreter for a new .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests that run at the same time; 0 runs them in one process.
JOBS ?= 2
# pyright would ask its registry for news.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.PHONY: help demo test check bench docs format clean

help:
	@echo "make demo     check and run the gallery, write the pictures to output/"
	@echo "make test     run the tests"
	@echo "make check    format, lint, types, layers"
	@echo "make bench    measure against Numba, write JSON to output/"
	@echo "make docs     generate docs/reference/ from the tables"
	@echo "make format   format the code"

demo: $(VENV)/.has-demo
	$(BIN)/python examples/demo.py

test: $(VENV)/.has-dev
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup $(ARGS)

check: $(VENV)/.has-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --project .
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/.has-bench
	$(BIN)/python -m benchmarks.run $(ARGS)

docs: $(VENV)/.has-dev
	$(BIN)/python docs/generate.py

format: $(VENV)/.has-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) output .pytest_cache .ruff_cache .mypy_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The build tools are installed beside the package, so that installing again needs no network.
$(VENV)/.has-%: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet hatchling editables
	$(BIN)/python -m pip install --quiet --no-build-isolation -e '.[$*]'
	touch $@
