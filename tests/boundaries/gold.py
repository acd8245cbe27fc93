"""Calls of the corpora that their documentation admits, as cases: in several orders, with and without optional keys."""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from boundaries.judge import Case, is_admitted_call
from data import rows
from eval.benchmarks.api_bank.benchmark import API_BANK
from eval.benchmarks.bfcl import BFCL_LIVE, BFCL_V1
from eval.benchmarks.samples import Benchmark
from eval.benchmarks.sgd import SGD
from lookup import extract
from lookup.dictionary import LookupDictionary
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS

PROMPTS = (
    "User: hello\nAPI-Request: ",
    "User: hello\nAPI-Request:",
    "What is the weather like?\n",
    "<|user|>Book it.<|assistant|>assistant\n\n",
    "请帮我预订明天去北京的机票。",
    "Answer with a call:  ",
)
TAILS = ("\n", "\n\n", "", " ")

_NEIGHBOURS = 8

Entry = tuple[str, LookupDictionary, tuple[Call, ...]]
"""Id, tools, reference calls."""


def _entries(benchmark: Benchmark, folder: Path) -> Iterator[Entry]:
    samples = benchmark.load(str(folder), benchmark.categories)
    return ((f"{benchmark.name}/{s.id}", s.documentation.lookup, s.calls) for s in samples if s.calls)


def _seal_entries(folder: Path) -> Iterator[Entry]:
    """The dev split; a prompt offers the tools that it needs and some that stand beside them."""
    known = extract((folder / "tool.jsonl").read_text(encoding="utf-8"), on_duplicate="rename")
    place = {tool.name: number for number, tool in enumerate(known.tools)}
    for row in rows(folder / "dev.jsonl"):
        calls = tuple(Call(call["api"], call["parameters"]) for call in row["calling"])
        if all(call.name in place for call in calls):
            near = {n for c in calls for n in range(place[c.name], place[c.name] + _NEIGHBOURS)}
            tools = tuple(known.tools[n] for n in sorted(near) if n < len(known.tools))
            yield f"seal-tools/{row['id']}", LookupDictionary(tools), calls


CORPORA: dict[str, Callable[[Path], Iterator[Entry]]] = {
    "BFCL live": lambda data: _entries(BFCL_LIVE, data / "bfcl"),
    "BFCL V1": lambda data: _entries(BFCL_V1, data / "bfcl"),
    "API-Bank": lambda data: _entries(API_BANK, data / "api-bank"),
    "SGD": lambda data: _entries(SGD, data / "sgd"),
    "Seal-Tools": lambda data: _seal_entries(data / "seal-tools"),
}
"""Name -> its entries, from the folder of all corpora."""


def gold_cases(data: Path, limit: int | None = None, seed: int = 0) -> list[Case]:
    """Cases of all corpora in all formats, mixed; with a ``limit``, at most so many of each corpus in each format."""
    cases = []
    for corpus, read in CORPORA.items():
        entries = list(read(data))
        for call_format in CALL_FORMATS.values():
            rng = random.Random(f"{seed} {corpus} {call_format.name}")
            rng.shuffle(entries)
            cases += itertools.islice(_cases(entries, call_format, rng), limit)
    random.Random(seed).shuffle(cases)
    return cases


def _cases(entries: Sequence[Entry], call_format: CallFormat, rng: random.Random) -> Iterator[Case]:
    """Calls that stand in many entries, as in SGD, are tried once."""
    seen = set()
    for identifier, documented, calls in entries:
        new = [c for c in calls if (c.name, repr(c.arguments)) not in seen]
        if not new:
            continue
        seen.update((c.name, repr(c.arguments)) for c in new)
        tools = documented.decided("optional")
        right = [c for c in calls if c.name in tools and is_admitted_call(c, tools[c.name], call_format)]
        different = len({(c.name, repr(c.arguments)) for c in calls})  # equal calls are not written twice
        if call_format.parallel and 1 < different == len(right) == len(calls):
            yield Case(identifier, call_format.name, tools, calls, rng.choice(PROMPTS), rng.choice(TAILS))
        for call in right:
            if call in new:
                own, arranged = _arranged(tools, call, rng)
                yield Case(identifier, call_format.name, own, (arranged,), rng.choice(PROMPTS), rng.choice(TAILS))


def _arranged(tools: LookupDictionary, call: Call, rng: random.Random) -> tuple[LookupDictionary, Call]:
    """Documentation with the required keys in any order, and the call in that order, with or without optional keys."""
    tool = tools[call.name]
    specs = rng.sample(tool.required, len(tool.required))
    given = [p.name for p in tool.optional if p.name in call.arguments]
    given = rng.sample(given, rng.choice([0, len(given), len(given)]))
    arguments = {key: call.arguments[key] for key in [*(p.name for p in specs), *given]}
    own = replace(tool, parameters=(*specs, *tool.optional))
    others = tuple(own if t.name == tool.name else t for t in tools.tools)
    return replace(tools, tools=others), Call(call.name, arguments)
