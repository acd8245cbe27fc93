# Each target makes its own .venv first: a fresh clone with Python 3.11 or newer needs nothing else.

STAMP := .venv/installed
DEMO := tooldecoding/demo
DATA ?= ../shared/data
BENCH ?= runs/bench

.PHONY: demo test check parity bench bench-gpu

demo: $(STAMP)
	.venv/bin/tooldecoding lookup $(DEMO)/tools.jsonl
	.venv/bin/tooldecoding decode --tools $(DEMO)/tools.jsonl --dialogue $(DEMO)/dialogue.jsonl --show-orders

test: $(STAMP)
	.venv/bin/pytest

parity: $(STAMP)
	PYTHONPATH=.:tests .venv/bin/python -m parity $(DATA)

bench: $(STAMP)
	.venv/bin/tooldecoding bench --shape llama-134m --out $(BENCH)

# One GPU; random weights. Rounds that would begin later than --minutes are left out, and named.
bench-gpu: $(STAMP)
	.venv/bin/tooldecoding bench --device cuda --dtype bf16 --shape llama-1b,llama-7b --batch 1,8,32 \
		--order-limit 1,2,4,6,12 --against greedy,beam6 --repeat 5 --minutes 8 --out $(BENCH)-gpu

check: $(STAMP)
	.venv/bin/ruff check .
	.venv/bin/mypy

$(STAMP): pyproject.toml constraints.txt
	@test -x .venv/bin/pip || { \
		for python in python3.11 python3.12 python3.13 python3.14 python3; do \
			"$$python" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
				&& exec "$$python" -m venv .venv; \
		done; \
		echo "error: no Python 3.11 or newer with the venv module found; install one (for example python3.11 and python3.11-venv)" >&2; \
		exit 1; \
	}
	.venv/bin/pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@
