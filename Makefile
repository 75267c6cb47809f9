# Needs Python 3.11+, make and the package index. Everything is installed into .venv, with uv when it is present.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check fix eval bench clean

demo: .venv/.core
	@$(BIN)/python -m rl_advisor report examples/grpo-run --out examples/grpo-run-report.md

test: .venv/.dev
	$(BIN)/python -m pytest -n auto

check: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto

fix: .venv/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The package alone, which is all that the demo needs.
.venv/.core: pyproject.toml requirements.lock
	@test -d .venv || $(PYTHON) -m venv .venv
	@if command -v uv >/dev/null 2>&1; \
	then uv pip install --quiet --python $(BIN)/python -e . -c requirements.lock; \
	else $(BIN)/python -m pip install --quiet -e . -c requirements.lock; fi
	@touch $@

.venv/.dev: .venv/.core
	@if command -v uv >/dev/null 2>&1; \
	then uv pip install --quiet --python $(BIN)/python --group dev -c requirements.lock; \
	else $(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1' && $(BIN)/python -m pip install --quiet --group dev -c requirements.lock; fi
	@touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache demo-report.md
