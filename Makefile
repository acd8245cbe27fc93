# Each target makes its own .venv first: a fresh clone with Python 3.11 or newer needs nothing else.

STAMP := .venv/installed
DEMO := tooldecoding/demo
DATA ?= ../shared/data
BENCH ?= runs/bench
RESULTS ?= runs/results
LIMIT ?= 300
STEP ?= 1
MODEL ?= reference

.PHONY: demo test test-random check parity boundaries formats batch-scale ray-scale bench bench-gpu results votes

demo: $(STAMP)
	.venv/bin/tooldecoding lookup $(DEMO)/tools.jsonl
	.venv/bin/tooldecoding decode --tools $(DEMO)/tools.jsonl --dialogue $(DEMO)/dialogue.jsonl --show-orders

test: $(STAMP)
	.venv/bin/pytest -n auto --dist loadfile

# The laws again, on examples that no run has drawn before.
test-random: $(STAMP)
	.venv/bin/pytest -n auto --dist loadfile --hypothesis-profile=random

parity: $(STAMP)
	PYTHONPATH=.:tests .venv/bin/python -m parity $(DATA)

# The calls that a model wants, with every vocabulary; LIMIT of each corpus in each format.
boundaries: $(STAMP)
	PYTHONPATH=.:tests .venv/bin/python -m boundaries $(dir $(DATA)) --limit $(LIMIT)

# Every call format, with all documentation, before judges of other hands; STEP=20 takes every 20th document.
formats: $(STAMP)
	PYTHONPATH=.:tests .venv/bin/python -m formats.law $(dir $(DATA)) --step $(STEP)

# Batches of 10,000, 100,000 and a million rows with a stub for the decoding: time and memory a row.
batch-scale: $(STAMP)
	PYTHONPATH=.:tests .venv/bin/python -m batch_scale

# Rows a second with workers of one thread each against one process; on a machine with at least two cores at rest.
ray-scale: $(STAMP)
	OMP_NUM_THREADS=1 PYTHONPATH=.:tests .venv/bin/python -m ray_scale

bench: $(STAMP)
	.venv/bin/tooldecoding bench --shape llama-134m --out $(BENCH)

# One GPU; random weights. Rounds that would begin later than --minutes are left out, and named.
bench-gpu: $(STAMP)
	.venv/bin/tooldecoding bench --device cuda --dtype bf16 --shape llama-1b,llama-7b --batch 1,8,32 \
		--order-limit 1,2,4,6,12 --against greedy,beam6 --repeat 5 --minutes 8 --out $(BENCH)-gpu

# Every method on every benchmark, LIMIT samples of each (all of API-Bank); begun runs go on. With -j2, two at a time.
results: results-api-bank results-sgd results-bfcl-live results-questions results-dialogues

results-api-bank: FROM = api-bank --data $(DATA)/api-bank
results-sgd: FROM = sgd --data $(DATA)/sgd --limit $(LIMIT)
results-bfcl-live: FROM = bfcl-live --data $(DATA)/bfcl --limit $(LIMIT)
results-questions: FROM = bfcl-live --data $(RESULTS)/held-out/questions --limit $(LIMIT)
results-dialogues: FROM = sgd --data $(RESULTS)/held-out/dialogues --limit $(LIMIT)

results-%: $(RESULTS)/held-out/questions
	for method in greedy beam tooldec; do \
		.venv/bin/tooldecoding eval $(FROM) --model $(MODEL) --method $$method --batch-size 1 \
			--out $(RESULTS)/$*/$$method || exit 1; \
	done
	for limit in 1 4 9 12; do \
		.venv/bin/tooldecoding eval $(FROM) --model $(MODEL) --order-limit $$limit --batch-size 1 \
			--out $(RESULTS)/$*/orders-$$limit || exit 1; \
	done
	.venv/bin/tooldecoding report $(RESULTS)/$*/* --out $(RESULTS)/report-$*

# What the vote changes, and what as many samples give: LIMIT calls of each benchmark; begun runs go on.
votes: votes-sgd votes-api-bank votes-bfcl-live

votes-sgd: FROM = sgd --data $(DATA)/sgd
votes-api-bank: FROM = api-bank --data $(DATA)/api-bank
votes-bfcl-live: FROM = bfcl-live --data $(DATA)/bfcl --category live_simple --category live_multiple

votes-%: $(STAMP)
	.venv/bin/tooldecoding eval $(FROM) --limit $(LIMIT) --model $(MODEL) --order-limit 24 --out $(RESULTS)/votes-$*/orders
	.venv/bin/tooldecoding eval $(FROM) --limit $(LIMIT) --model $(MODEL) --method self-consistency \
		--out $(RESULTS)/votes-$*/samples
	.venv/bin/tooldecoding report $(RESULTS)/votes-$*/orders $(RESULTS)/votes-$*/samples --out $(RESULTS)/report-votes-$*

$(RESULTS)/held-out/questions: $(STAMP)
	.venv/bin/python -m training.held_out --out $(RESULTS)/held-out

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
