# The daily things, one word each. Every target sets up .venv in this checkout first, if it has to; nothing else is needed
# than python3 (3.11 to 3.13), make and a package index that pip can reach.

# PYTHON=/path/to/python3.12 chooses the interpreter that .venv is made with.
export PYTHON
export PYTHONUTF8 = 1
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

BIN := $(if $(filter Windows_NT,$(OS)),.venv/Scripts,.venv/bin)
QUESTION := 订单 123 里买了什么？现在还有货吗？报个价

.DEFAULT_GOAL := help
.PHONY: help setup demo test conformance test-fast lint format bench web screenshots protocol lock lock-tryton lock-peers clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

setup: ## make or update .venv (the other targets do it by themselves)
	@sh scripts/set-up.sh

# Offline on purpose, whatever model the environment names, in a home of its own that is new every time.
demo: setup ## ask the example question of the built-in shop, offline
	@rm -rf .demo
	@echo '$$ erpilot ask "$(QUESTION)"'
	@env -u OPENAI_BASE_URL -u OPENAI_API_KEY -u ERPILOT_MODEL -u ERPILOT_TODAY ERPILOT_HOME="$(CURDIR)/.demo" $(BIN)/erpilot ask "$(QUESTION)"
	@echo
	@echo 'See it again, without a model:    ERPILOT_HOME=.demo $(BIN)/erpilot replay last'
	@echo 'Ask something else:                ERPILOT_HOME=.demo $(BIN)/erpilot chat'
	@echo 'With a real model (any endpoint that speaks the OpenAI protocol):'
	@echo '    export OPENAI_BASE_URL=... OPENAI_API_KEY=... ERPILOT_MODEL=...      or: $(BIN)/erpilot setup'

test: setup ## all tests: unit, integration, acceptance
	@$(BIN)/python -m tests.support.tryton prepare
	@$(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

conformance: setup ## every case that an ERP has to keep to, on every ERP, and all jobs on Tryton (many minutes)
	@$(BIN)/python -m tests.support.tryton prepare
	@$(BIN)/python -m pytest tests/integration/erp_conformance tests/integration/test_jobs_on_tryton.py --all-cases -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test-fast: setup ## the unit tests: no services, under a minute
	@$(BIN)/python -m pytest tests/unit

lint: setup ## style, formatting, types, direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: setup ## let ruff repair style and formatting
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup ## measure against hand-written loops, side by side
	@$(BIN)/python -m bench

web: setup ## build the page and serve it (ERPILOT_HOME chooses the data)
	@$(BIN)/python scripts/build_web.py
	@$(BIN)/erpilot serve

screenshots: setup ## make the pictures of docs/web.md anew
	@ERPILOT_SCREENSHOTS="$(CURDIR)/docs/screenshots" $(BIN)/python -m pytest -q tests/acceptance/web

protocol: setup ## make the types and the words of the page anew from those of the server
	$(BIN)/python -m erpilot_api.typescript apps/web/src/protocol.ts
	$(BIN)/python -m erpilot_api.shopwords apps/web/src/text/shopwords.ts

# --upgrade: newest versions that fit; without network names or markers of this machine in the file.
lock: setup ## compile requirements.lock anew from requirements.in and the pyproject files
	$(BIN)/uv pip compile requirements.in --output-file requirements.lock --upgrade --universal --python-version 3.11 \
		--generate-hashes --no-annotate --no-header --no-emit-package erpilot --no-emit-package erpilot-agent-core \
		--no-emit-package erpilot-api --quiet

lock-tryton: setup ## compile the lock of the Tryton server that the tests run
	$(BIN)/uv pip compile tests/support/tryton/requirements.in --output-file tests/support/tryton/requirements.lock --upgrade \
		--universal --python-version 3.11 --generate-hashes --no-annotate --no-header --quiet

lock-peers: setup ## compile the lock of the packages that make bench measures against
	$(BIN)/uv pip compile bench/requirements-peers.in --output-file bench/requirements-peers.lock --upgrade --universal \
		--python-version 3.11 --generate-hashes --no-annotate --no-header --quiet

clean: ## remove .venv, the demo's data and every cache
	rm -rf apps/web/node_modules packages/erpilot_api/src/erpilot_api/static
	rm -rf .venv .bench .demo .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis bench/results
	find packages tests bench evals scripts -name __pycache__ -type d -prune -exec rm -rf {} +
