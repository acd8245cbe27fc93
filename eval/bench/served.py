"""Measures a server with OpenAI's chat completions: what its own tool calling gets right, and what tooldecoding does.

Both answer the same requests of a benchmark, side by side in one run, with one, a few or many of them in flight.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import httpx

from eval.benchmarks.samples import Benchmark, Sample
from eval.errors import EvalError
from eval.methods.prediction import read_leniently
from eval.report.table import Table
from tooldecoding.chat.dialogue import openai_messages
from tooldecoding.files.json_lines import read_object
from tooldecoding.files.result_file import ResultFile
from tooldecoding.formats.call_format import Call
from tooldecoding.formats.known_formats import CALL_FORMATS

METHODS: Final[Mapping[str, Mapping[str, Any]]] = {
    "own": {"tooldecoding": False},
    "own-strict": {"tooldecoding": False},
    "one-order": {"tooldecoding": {"order_limit": 1}},
    "four-orders": {"tooldecoding": {"order_limit": 4}},
}
"""Method -> the fields that its requests have beside the others."""

_FIGURES: Final[Mapping[str, tuple[str, ...]]] = {
    "written": ("vllm:generation_tokens_total", "llamacpp:tokens_predicted_total", "sglang:generation_tokens_total"),
    "read": ("vllm:prompt_tokens_total",),
    "reused": ("vllm:prefix_cache_hits_total",),
    "computed": ("llamacpp:prompt_tokens_total",),
    "requests": ("vllm:request_success_total",),
}
"""Figure -> its names in servers' metrics."""

_COLUMNS: Final = frozenset({"right"})
_MOST_TOKENS: Final = 256
_WRONG: Final = 3
"""So many failed requests are shown."""
_LEGEND: Final = (
    "own and own-strict: the server's own tool calling, strict: true in the latter. Seconds a call: the time of the "
    "cell by its calls. Tokens written, prompt positions computed (without those of the prefix cache), and requests to "
    "the engine, each by call, as the server's metrics tell them; the prefix cache is emptied before each cell where "
    "the server lets it be (VLLM_SERVER_DEV_MODE=1). Failed: answers with an error."
)


class ServedTrial:
    """Asks a server.

    Parameters
    ----------
    url : str
        Of the API, such as ``http://127.0.0.1:8000/v1``.
    engine : str
        Where metrics are, and the prefix cache is emptied, such as ``http://127.0.0.1:8000``.
    model : str
    benchmark : Benchmark
    choice : {"required", "auto"}
        The requests' ``tool_choice``.
    seconds : float
        How long an answer is waited for.
    """

    def __init__(
        self, url: str, engine: str, model: str, benchmark: Benchmark, choice: str = "required", seconds: float = 600.0
    ) -> None:
        self._url, self._engine, self._model = url.rstrip("/"), engine.rstrip("/"), model
        self._benchmark = benchmark
        self._choice = choice
        self._http = httpx.Client(timeout=seconds, trust_env=False, limits=httpx.Limits(max_connections=None))

    def cell(self, method: str, samples: Sequence[Sample], in_flight: int) -> dict[str, Any]:
        """Return the figures of a method; EvalError if no request is answered."""
        with suppress(httpx.HTTPError):
            self._http.post(f"{self._engine}/reset_prefix_cache")
        before, start = self._figures(), time.perf_counter()
        with ThreadPoolExecutor(in_flight) as clients:
            answers = list(clients.map(lambda sample: self._ask(method, sample), samples))
        seconds = time.perf_counter() - start
        after = self._figures()
        failed = [error for _, error in answers if error]
        if len(failed) == len(answers):
            raise EvalError(f"{method}: no request was answered: {'; '.join(failed[:_WRONG]):.500}")
        verdicts = [
            not error and self._benchmark.judge(sample, text).correct
            for sample, (text, error) in zip(samples, answers, strict=True)
        ]
        figures = {name: after[name] - before[name] for name in before if name in after}
        return {
            "id": f"{method}/{in_flight}",
            "method": method,
            "in_flight": in_flight,
            "calls": len(samples),
            "right": sum(verdicts),
            "failed": len(failed),
            "errors": failed[:_WRONG],
            "seconds": seconds,
            "figures": figures,
            "samples": {sample.id: text for sample, (text, _) in zip(samples, answers, strict=True)},
        }

    def _ask(self, method: str, sample: Sample) -> tuple[str, str]:
        """Return the calls of an answer as the benchmark writes them, and the error, if there is one."""
        tools = sample.documentation.as_chat_tools("full", False)
        if method == "own-strict":
            tools = [{**tool, "function": {**tool["function"], "strict": True}} for tool in tools]
        asked = {
            "model": self._model,
            "messages": openai_messages(sample.turns),
            "tools": tools,
            "tool_choice": self._choice,
            "temperature": 0,
            "max_tokens": _MOST_TOKENS,
            **METHODS[method],
        }
        try:
            answer = self._http.post(f"{self._url}/chat/completions", json=asked)
            if answer.status_code != 200:
                return "", f"status {answer.status_code}: {answer.text:.300}"
            message = answer.json()["choices"][0]["message"]
            return self._written(message), ""
        except (httpx.HTTPError, ValueError, KeyError, IndexError, TypeError) as error:
            return "", f"{type(error).__name__}: {error}"

    def _written(self, message: Mapping[str, Any]) -> str:
        calls = [
            Call(each["function"]["name"], read_object(each["function"]["arguments"]))
            for each in message.get("tool_calls") or ()
        ]
        calls = calls or read_leniently(message.get("content") or "")  # servers leave calls of other forms as text
        return CALL_FORMATS[self._benchmark.call_format].render(calls) if calls else message.get("content") or ""

    def _figures(self) -> dict[str, float]:
        """Return the figures that the server tells of itself; empty if it tells none."""
        try:
            lines = self._http.get(f"{self._engine}/metrics").text.splitlines()
        except httpx.HTTPError:
            return {}
        found: dict[str, float] = {}
        for name, known in _FIGURES.items():
            values = [line.rpartition(" ")[2] for line in lines if re.split(r"[{ ]", line, maxsplit=1)[0] in known]
            if values:
                found[name] = sum(map(float, values))
        return found


def run_served(
    trial: ServedTrial,
    samples: Sequence[Sample],
    methods: Sequence[str],
    in_flight: Sequence[int],
    path: Path,
    tell: Callable[[str], None],
) -> list[dict[str, Any]]:
    """Return a row for each method and number in flight; those that stand in the file are not measured again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = ResultFile(path, _COLUMNS)
    try:
        for count in in_flight:
            for method in methods:
                if f"{method}/{count}" not in file.done:
                    row = trial.cell(method, samples, count)
                    file.write([row])
                    a_call = row["seconds"] / row["calls"]
                    tell(f"{method}, {count} in flight: {row['right']} of {row['calls']} right, {a_call:.2f} s a call")
    finally:
        file.close()
    known = {f"{method}/{count}" for count in in_flight for method in methods}
    rows = [read_object(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["id"] in known]


def served_table(rows: Sequence[Mapping[str, Any]], title: str) -> Table:
    """Return the figures of a run."""
    cells = []
    for row in rows:
        figures, calls = row["figures"], row["calls"]
        computed = figures.get("computed")
        if computed is None and "read" in figures and "reused" in figures:
            computed = figures["read"] - figures["reused"]
        each = [figures.get("written"), computed, figures.get("requests")]
        shown = ["?" if value is None else f"{value / calls:.1f}" for value in each]
        counts = (str(row["right"]), str(row["failed"]), f"{row['seconds'] / calls:.2f}")
        cells.append((row["method"], str(row["in_flight"]), str(calls), *counts, *shown))
    heads = ("method", "in flight", "calls", "right", "failed", "seconds a call", "written", "computed", "requests")
    return Table(title, heads, tuple(cells), 1, notes=(_LEGEND,))
