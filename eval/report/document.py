"""The report: Markdown with charts beside it."""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Final

from pandas import DataFrame, Series

from eval.errors import writing
from eval.report.charts import coverage_chart, error_chart, pass_chart
from eval.report.confidence_table import answers, confidence_table, surest_first
from eval.report.finished_run import Run, read_runs
from eval.report.score_tables import score_tables
from eval.report.table import NONE, Table, counted, markdown
from eval.report.value_tables import value_table, vote_table
from eval.statistics import Accuracy

_HEADS: Final = ("model", "method")
_COSTS: Final = {
    "prompt_tokens": "prompt",
    "forward_passes": "passes",
    "positions": "positions",
    "forced_tokens": "forced",
    "constrained_tokens": "constrained",
    "free_tokens": "free",
}
"""Field of ``Cost`` or ``Counters`` -> column of its mean."""


def write_report(runs: Sequence[str | Path], out: Path) -> list[Path]:
    """Read run folders and write ``report.md`` and its charts.

    EvalError as ``read_runs``; also if ``out`` cannot be written.

    Parameters
    ----------
    runs : sequence of str or Path
        Folders of finished runs, of any benchmarks, models and methods; tables have them in this sequence.
    out : Path
        Folder; created if it does not exist. Files of an earlier report are replaced.

    Returns
    -------
    list of Path
        The files, ``report.md`` first.
    """
    read = read_runs(runs)
    parts, charts = ["# Report of tool calls\n", markdown(_run_table(read))], []
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        benchmarks = list(dict.fromkeys(run.about.benchmark for run in read))
        for benchmark in benchmarks:
            section, drawn = _section(benchmark, [run for run in read if run.about.benchmark == benchmark], out)
            parts += section
            charts += drawn
        pooled = confidence_table(read, "Confidence, all benchmarks")
        parts += [markdown(pooled)] if len(benchmarks) > 1 and pooled.rows else []
        (out / "report.md").write_text("\n".join(parts), encoding="utf-8")
    return [out / "report.md", *charts]


def _section(benchmark: str, runs: Sequence[Run], out: Path) -> tuple[list[str], list[Path]]:
    """Return the texts and the charts of one benchmark."""
    rows = [{**_names(run), **score.model_dump(), "passes": _passes(run)} for run in runs for score in run.scores]
    scores = DataFrame(rows)
    charts = {"passes": pass_chart, "errors": error_chart}
    paths = {name: out / f"{name}-{benchmark}.png" for name in charts}
    drawn = [paths[name] for name, draw in charts.items() if draw(benchmark, scores, _HEADS, paths[name])]
    sure = {tuple(_names(run).values()): surest_first(found) for run in runs if (found := answers(run))}
    coverage = out / f"coverage-{benchmark}.png"
    drawn += [coverage] * coverage_chart(benchmark, sure, coverage)
    categories = list(dict.fromkeys(category for run in runs for category in run.about.categories))
    tables = [*score_tables(scores, _HEADS, categories), *_value_tables(runs)]
    tables += [table for table in (_grounding_table(runs), confidence_table(runs), _cost_table(runs)) if table.rows]
    pictures = [f"![{path.stem}]({path.name})\n" for path in drawn]
    return [f"## {benchmark}\n", *pictures, *map(markdown, tables)], drawn


def _passes(run: Run) -> float:
    """Return the mean forward passes a sample; NaN without any."""
    counts = [cost.counters.get("forward_passes") for cost in run.costs]
    return float(Series(counts, dtype=float).mean())


def _names(run: Run) -> dict[str, str]:
    return {"model": run.about.model, "method": run.name}


def _value_tables(runs: Sequence[Run]) -> list[Table]:
    """Return the tables of values: of each run with several orders, then of all runs of a model together."""
    tables = []
    for run in runs:
        if run.about.method == "tool-decoding" and any(len(slot.orders) > 1 for slot in run.values):
            table = value_table(run.values)
            tables.append(replace(table, title=f"{table.title}: {run.about.model}, {run.name}"))
    ours_first = sorted(runs, key=lambda run: run.about.method != "tool-decoding")
    for model in dict.fromkeys(run.about.model for run in runs):
        table = vote_table({run.name: run.values for run in ours_first if run.about.model == model and run.values})
        if table.rows:
            tables.append(replace(table, title=f"{table.title}: {model}"))
    return tables


def _grounding_table(runs: Sequence[Run]) -> Table:
    """Return how right the samples are of which the dialogue says all required arguments, and the others."""
    rows = []
    for run in runs:
        correct = {score.id: score.correct for score in run.scores}
        known = [(correct[cost.id], cost.counters) for cost in run.costs if "ungrounded" in cost.counters]
        if known:
            said, not_said = ([ok for ok, n in known if bool(n["ungrounded"]) == kind] for kind in (False, True))
            cells = [counted(Accuracy(sum(found), len(found)), True) for found in (said, not_said)]
            sums = [sum(int(counts.get(name) or 0) for _, counts in known) for name in ("left_out", "asked")]
            rows.append((*_names(run).values(), *cells, *map(str, sums)))
    note = (
        "Per cent right, of the samples whose required arguments the dialogue says, and of those with one that it does "
        "not say; how many optional arguments were left out for that, and how many samples have a question for a call."
    )
    columns = (*_HEADS, "said", "not said", "left out", "asked")
    return Table("Grounding", columns, tuple(rows), 2, notes=(note,))


def _cost_table(runs: Sequence[Run]) -> Table:
    """Return seconds and counters a sample (the paper's table 5)."""
    rows = []
    for run in runs:
        fields = [cost.model_dump() for cost in run.costs]
        names = [*_COSTS, "seconds", "cache_bytes"]
        costs = DataFrame([each["counters"] | each for each in fields], columns=names, dtype=float)
        means = [_figure(costs[name].mean(), ",.1f") for name in _COSTS]
        cache = _figure(costs["cache_bytes"].max() / 1e6, ",.1f")
        seconds = [_figure(costs["seconds"].median(), ".3f"), _figure(costs["seconds"].mean(), ".3f")]
        batch = str(run.about.settings.get("batch_size", NONE))
        rows.append((*_names(run).values(), str(len(costs)), *means, cache, batch, *seconds))
    note = (
        "Means a sample of those decoded: tokens of the prompt, forward passes, positions computed, tokens forced, "
        "constrained and free, which no machine changes; the largest KV cache of a sample; wall-clock seconds, which "
        "samples decoded in one batch share evenly. Compare seconds only of one machine and batch size."
    )
    columns = (*_HEADS, "samples", *_COSTS.values(), "cache MB", "batch", "median s", "mean s")
    return Table("Costs", columns, tuple(rows), 2, notes=(note,))


def _figure(value: float, form: str) -> str:
    return NONE if isnan(value) else format(value, form)


def _run_table(runs: Sequence[Run]) -> Table:
    """Return the samples and the origin of each run."""
    rows = []
    for run in runs:
        about, settings = run.about, run.about.settings
        limit = settings.get("limit")
        drawn = "all" if limit is None else f"{limit} drawn with seed {settings.get('seed', NONE)}"
        samples, missing = len(run.scores), sum(score.missing for score in run.scores)
        counts = map(str, (samples, about.drawn_from, missing, samples - len(run.costs)))
        machine, versions = (", ".join(f"{k} {v}" for k, v in each.items()) for each in (about.machine, about.versions))
        origin = (str(run.folder), about.started, machine, versions)
        rows.append((about.benchmark, *_names(run).values(), *origin, drawn, *counts))
    note = (
        "Of: samples that the categories have. Missing: samples without a prediction, which count as wrong. Errors: "
        "those that decoding failed for."
    )
    columns = ("benchmark", *_HEADS, "folder", "started", "machine", "versions", "subset", "samples", "of", "missing")
    return Table("Runs", (*columns, "errors"), tuple(rows), 8, notes=(note,))
