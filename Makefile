# Every command first makes .venv when it is missing, broken or older than the lists below. Needed: Python 3.11+ and make.
SHELL := /bin/bash
VENV  := .venv
PY    := $(VENV)/bin/python
RUN   := $(VENV)/.can-run
DEV   := $(VENV)/.can-develop
# One more than there are processors, for a test that waits for a browser leaves its own idle.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN || echo 2); echo $$((n < 8 ? n + 1 : 8)))

# Broken: the interpreter is gone or another one (the system's Python was upgraded), or a required package is not there.
SOUND := import importlib.metadata as m, pip, re, sys; assert sys.version_info >= (3, 11); \
	[m.version(re.match(r"[\w-]+", line)[0]) for name in sys.argv[1:] \
	for line in open(name, encoding="utf-8") if line[0].isalpha()]
sound = $(shell $(PY) -c '$(SOUND)' $(1) >/dev/null 2>&1 && echo sound)
ifneq ($(wildcard $(RUN)),)
ifneq ($(call sound,requirements.txt),sound)
$(shell rm -f $(RUN) $(DEV))
endif
endif
ifneq ($(wildcard $(DEV)),)
ifneq ($(call sound,requirements-dev.txt),sound)
$(shell rm -f $(DEV))
endif
endif

# What people read: all but scripts and tests.
PLAIN := README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md app.py sample_data calib calibration_explorer benchmarks pages docs

.PHONY: help run test lint bench soak docs clean
help:
	@echo "make run    start the dashboard on http://127.0.0.1:8501 (another port: make run PORT=8600)"
	@echo "            make run FOLDER=DIR lists the tables in DIR on Data"
	@echo "make test   the suite                make lint   ruff, types and words"
	@echo "make bench  speed beside peers       make soak   what is too long for every change (a tenth: SHARE=3/10)"
	@echo "make docs   the guide and the API reference, in build/docs"
	@echo "make clean  forget .venv and caches"

run: $(RUN)
	$(if $(FOLDER),CALIBRATION_EXPLORER_FOLDER="$(abspath $(FOLDER))" )$(PY) -m calibration_explorer --address 127.0.0.1 $(if $(PORT),--port $(PORT))

# One BLAS thread a worker: workers on as many cores would otherwise slow each other down. Compiled files are kept even
# where the environment forbids it: every process that the suite starts would compile calib again. A worker that dies is
# not replaced: pytest-xdist 3.8 gives its files to the new one such that it waits for ever (its issues 784 and 1323).
test: $(DEV)
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(PY) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --max-worker-restart=0 -m "not soak" $(ARGS)

lint: $(DEV)
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy
	$(PY) -m scripts.check_words $(PLAIN)

soak: $(DEV)
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(PY) -m pytest -n 2 --dist worksteal -m "soak or hypothesis" --hypothesis-profile=many $(if $(SHARE),--share=$(SHARE)) $(ARGS)

bench: $(DEV)
	$(PY) -m benchmarks

docs: $(DEV)
	$(PY) -m sphinx -q -W --keep-going -b html docs build/docs
	@echo "The guide and the API reference: build/docs/index.html"

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis build *.egg-info

$(RUN): requirements.txt pyproject.toml
	@$(PY) -c "import pip, sys; assert sys.version_info >= (3, 11)" 2>/dev/null || { \
	  for python in "$$PYTHON" python3 python3.14 python3.13 python3.12 python3.11 python; do \
	    "$$python" -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null && break; python=; \
	  done; \
	  [ -n "$$python" ] || { echo "Python 3.11 or later is needed and was not found. Install it, or name one: make PYTHON=/path/to/python3" >&2; exit 1; }; \
	  echo "Making $(VENV) with $$("$$python" --version)"; \
	  rm -rf $(VENV) && "$$python" -m venv $(VENV); }
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@$(PY) -m compileall -q calib pages  # so that the very first picture does not wait for it
	@touch $@

$(DEV): $(RUN) requirements-dev.txt
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@
