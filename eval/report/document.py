"""The report: Markdown with charts beside it."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from eval.benchmarks.registry import BENCHMARKS
from eval.errors import EvalError
from eval.report.accuracy_table import accuracy_tables
from eval.report.charts import accuracy_chart, error_chart, order_limit_chart
from eval.report.cost_table import cost_tables, machine
from eval.report.entry import Entry, common_samples
from eval.report.error_table import error_tables
from eval.report.figure_tables import figure_table, value_type_table
from eval.report.finished_run import Run
from eval.report.run_list import read_runs
from eval.report.significance_table import significance_table
from eval.report.studies import order_limit_table, study_tables, value_errors
from eval.report.table import NONE, Table, escaped, markdown
from eval.report.value_table import value_table, vote_table

_HEADS = ("model", "method")
_PROMPT_SETTINGS = (
    *("template", "format", "documentation", "prompt_template", "chat", "shots", "dtype", "max_text_tokens"),
)
_NAMES = ("benchmark", *_HEADS)


def write_report(runs: Sequence[str | Path], out: Path) -> list[Path]:
    """Read run folders and write ``report.md`` and its charts.

    Parameters
    ----------
    runs : sequence of str or Path
        Folders of finished runs, of any benchmarks, models and methods.
    out : Path
        Folder; created if it does not exist. Files of an earlier report are replaced.

    Returns
    -------
    list of Path
        The files, ``report.md`` first.

    Raises
    ------
    EvalError
        As ``read_runs``; also if ``out`` cannot be written.
    """
    read = read_runs(runs)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvalError(f"{out}: expected a folder that can be written to: {error.strerror}") from None
    parts = ["# Report of tool calls\n", "## Runs\n", *(markdown(t) for t in _runs_tables(read))]
    charts: list[Path] = []
    for benchmark, group in groupby(read, key=lambda r: r.benchmark):
        section, drawn = _section(benchmark, list(group), out)
        parts += section
        charts += drawn
    report = out / "report.md"
    try:
        report.write_text("\n".join(parts), encoding="utf-8")
    except OSError as error:
        raise EvalError(f"{report}: cannot be written: {error.strerror}") from None
    return [report, *charts]


def _section(benchmark: str, runs: Sequence[Run], out: Path) -> tuple[list[str], list[Path]]:
    """Return the texts and the charts of one benchmark."""
    greedy = _greedy(runs)
    entries = [_entry(run, greedy.get(number)) for number, run in enumerate(runs)]
    common = common_samples(entries)
    shared = [e.on(common) for e in entries] if common else entries
    totalled, everything = ("samples of its own each",) * 2
    if common:
        summary = shared[0].summary()
        totalled, everything = f"{summary.count_weighted.total} samples", f"{summary.samples} samples"
    studies = value_errors(runs)
    drawn: list[Path] = []

    def chart(name: str, made: bool, text: str) -> list[str]:
        if not made:
            return []
        drawn.append(out / name)
        return [f"![{text}]({name})\n"]

    names = {kind: f"{kind}-{benchmark}.png" for kind in ("accuracy", "errors", "order-limit")}
    note = BENCHMARKS[benchmark].note if benchmark in BENCHMARKS else ""
    parts = [f"## {escaped(benchmark)}\n", *([f"{escaped(note)}\n"] if note else [])]
    parts += [markdown(t) for t in accuracy_tables(entries, _HEADS)]
    parts += chart(
        names["accuracy"],
        accuracy_chart(f"Accuracy: {benchmark}, {totalled}", shared, out / names["accuracy"]),
        "Accuracy by model and method",
    )
    parts += _filled(figure_table(shared, _HEADS)) + _filled(value_type_table(shared, _HEADS))
    parts += _filled(significance_table(entries, _HEADS))
    parts += [markdown(t) for t in error_tables(shared, _HEADS)]
    parts += chart(
        names["errors"],
        error_chart(f"Errors: {benchmark}, {everything}", shared, out / names["errors"]),
        "Error classes by model and method",
    )
    parts += _filled(order_limit_table(studies))
    parts += chart(
        names["order-limit"],
        order_limit_chart(f"Value errors: {benchmark}", studies, out / names["order-limit"]),
        "Value errors against the order limit",
    )
    parts += [markdown(table) for table in study_tables(runs)]
    parts += [part for table in _value_tables(runs) for part in _filled(table)]
    parts += [markdown(t) for t in cost_tables(runs, greedy)]
    return parts, drawn


def _value_tables(runs: Sequence[Run]) -> list[Table]:
    """Return the tables of values: of each run with several orders, then of all runs of a model together."""
    tables = []
    for run in runs:
        if run.method == "tool-decoding" and any(len(slot.orders) > 1 for slot in run.values):
            table = value_table(run.values)
            tables.append(replace(table, title=f"{table.title}: {run.model}, {run.name}"))
    ours_first = sorted(runs, key=lambda run: run.method != "tool-decoding")
    for model in dict.fromkeys(run.model for run in runs):
        table = vote_table({run.name: run.values for run in ours_first if run.model == model and run.values})
        tables.append(replace(table, title=f"{table.title}: {model}"))
    return tables


def _filled(table: Table) -> list[str]:
    return [markdown(table)] if table.rows else []


def _entry(run: Run, greedy: Run | None) -> Entry:
    base = _entry(greedy, None) if greedy else None
    return Entry(run.model, run.name, run.categories, tuple(run.scores.values()), base)


def _greedy(runs: Sequence[Run]) -> dict[int, Run]:
    """Return, by index of a run, the first greedy run of the same model and the same prompts."""
    bases: dict[Hashable, Run] = {}
    for run in runs:
        if run.method == "greedy":
            bases.setdefault(_prompts(run), run)
    found = {i: bases.get(_prompts(r)) for i, r in enumerate(runs)}
    return {i: base for i, base in found.items() if base}


def _prompts(run: Run) -> Hashable:
    """Return a key: two runs of one benchmark with the same key gave the same prompts to the same model."""
    seed = run.settings.get("seed") if run.settings.get("shots") else None
    return (run.model, seed, *(run.settings.get(name) for name in _PROMPT_SETTINGS))


def _runs_tables(runs: Sequence[Run]) -> list[Table]:
    """Return the tables of the samples and of the origin of each run."""
    names = [(r.benchmark, r.model, r.name) for r in runs]
    samples = [
        (
            _subset(r),
            str(len(r.scores)),
            str(r.drawn_from),
            str(sum(s.missing for s in r.scores.values())),
            str(r.errors),
        )
        for r in runs
    ]
    origins = [
        (str(r.folder), r.started, machine(r), ", ".join(f"{name} {version}" for name, version in r.versions.items()))
        for r in runs
    ]
    versions = {package for r in runs for package in r.versions.items()}
    return [
        Table(
            "Samples",
            (*_NAMES, "subset", "samples", "of", "missing", "errors"),
            tuple(name + cells for name, cells in zip(names, samples, strict=True)),
            4,
            notes=(
                "Of: samples that the categories have. Missing: samples without a prediction, which count as wrong. "
                "Errors: those of them that decoding failed for.",
            ),
        ),
        Table(
            "Origin",
            (*_NAMES, "folder", "started", "machine", "versions"),
            tuple(name + cells for name, cells in zip(names, origins, strict=True)),
            7,
            notes=("The runs were made with different versions.",) if len(versions) > len(dict(versions)) else (),
        ),
    ]


def _subset(run: Run) -> str:
    """Return ``200 drawn with seed 0``, or ``all``."""
    if run.settings.get("limit") is None:
        return "all"
    return f"{run.settings['limit']} drawn with seed {run.settings.get('seed', NONE)}"
