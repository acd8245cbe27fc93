"""Measures one engine on one schema and its instances; runs in the engine's process."""

import gc
from collections.abc import Mapping, Sequence
from time import process_time_ns
from typing import Any

from eval.bench.failures import failure
from eval.schemas.durations import Durations
from eval.schemas.engine import REFUSALS, Engine


def measure(engine: Engine, task: Mapping[str, Any]) -> dict[str, Any]:
    """Return verdicts and times, or why there is no grammar.

    Parameters
    ----------
    task : mapping
        ``schema``, and ``tests``, each with ``valid``, ``data`` and ``tokens``.

    Returns
    -------
    dict
        ``refused`` with the reason; or ``notes``, ``grammar_ns``, ``tokens`` and ``search`` (``Durations``), and
        ``verdicts``: for each test whether it was ``accepted``, whether the check after decoding ``kept`` it, and how
        many tokens were ``taken``.
    """
    gc.collect()
    gc.disable()
    try:
        return _measure(engine, task)
    except REFUSALS as error:
        return {"refused": failure(error)}
    finally:
        gc.enable()


def _measure(engine: Engine, task: Mapping[str, Any]) -> dict[str, Any]:
    start = process_time_ns()
    engine.compile(task["schema"])
    grammar_ns = process_time_ns() - start
    tokens, search = Durations(), Durations()
    verdicts = []
    for test in task["tests"]:
        accepted, times = _judge(engine, test["tokens"])
        kept = accepted and engine.allows(test["data"])
        verdicts.append({"accepted": accepted, "kept": kept, "taken": len(times)})
        if test["valid"]:
            tokens.add(times)
    for test, verdict in zip(task["tests"], verdicts, strict=True):
        if test["valid"] and verdict["accepted"]:
            search.add(engine.search(test["tokens"]))
    return {
        "notes": list(engine.notes()),
        "grammar_ns": grammar_ns,
        "verdicts": verdicts,
        "tokens": tokens.to_json(),
        "search": search.to_json(),
    }


def _judge(engine: Engine, tokens: Sequence[int]) -> tuple[bool, list[int]]:
    """Return whether an instance is accepted, and the nanoseconds of its tokens up to the first that is refused."""
    engine.start()
    times = []
    for token in tokens:
        start = process_time_ns()
        taken = engine.take(token)
        times.append(process_time_ns() - start)
        if not taken:
            return False, times
    return engine.complete(), times
