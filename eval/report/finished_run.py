"""Finished runs, read from their folders and checked."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from eval.errors import EvalError
from eval.metrics.metrics import Score, read_score
from eval.options import METHOD_NAMES
from lookup.text.text_file import read_text
from tooldecoding.files.json_lines import read_row

COUNTERS: Final = ("forward_passes", "positions", "forced_tokens", "constrained_tokens", "free_tokens", "cache_bytes")
"""Counters that the report shows; greedy and beam search have the first two."""

MAX_LINE: Final = 64 * 1024 * 1024
"""Longest line of a run's file, in characters."""

_TEXTS = ("benchmark", "method", "label", "model", "started")
_LARGEST = 10**15
_KNOWN_SETTINGS = {"order_limit": int, "orders": str, "shots": int, "batch_size": int, "seed": int}


@dataclass(frozen=True)
class Cost:
    """What one prediction cost: seconds (its share of its batch's) and counters by name."""

    seconds: float
    counters: Mapping[str, float]


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes
    ----------
    folder : Path
    benchmark, method, model, label, started : str
    name : str
        The label, with what tells the run from others of its benchmark, model and label.
    settings, machine, versions : dict
        As in ``run.json``.
    categories : tuple of str
    drawn_from : int
        Samples that there are in these categories.
    scores : dict
        Sample id -> score, in the sequence of the file.
    costs : dict
        Sample id -> cost, for the samples that were decoded.
    errors : int
        Samples that could not be decoded.
    """

    folder: Path
    benchmark: str
    method: str
    label: str
    name: str
    model: str
    started: str
    settings: Mapping[str, Any]
    machine: Mapping[str, Any]
    versions: Mapping[str, Any]
    categories: tuple[str, ...]
    drawn_from: int
    scores: Mapping[str, Score]
    costs: Mapping[str, Cost]
    errors: int


def read_run(folder: str | Path) -> Run:
    """Read a run folder.

    Raises
    ------
    EvalError
        If there is no such folder or run, it is malformed, or it is not finished; the message says how to go on.
    """
    folder = Path(folder)
    about = _read_about(folder)
    costs, errors, predicted = _read_predictions(folder, about["samples"])
    scores = _read_scores(folder, about)
    for identifier in predicted:
        if identifier not in scores:
            raise EvalError(
                f"{folder / 'scores.jsonl'}: no score for {identifier}, which is predicted; {_again(folder)}"
            )
    for identifier, score in scores.items():
        if not score.missing and identifier not in predicted:
            raise EvalError(
                f"{folder / 'predictions.jsonl'}: no prediction for {identifier}, which is scored; {_again(folder)}"
            )
    return Run(
        folder=folder,
        **{k: about[k] for k in (*_TEXTS, "settings", "machine", "versions", "drawn_from")},
        name=about["label"],
        categories=tuple(about["categories"]),
        scores=scores,
        costs=costs,
        errors=errors,
    )


def _again(folder: Path) -> str:
    return f"run the same `tooldecoding eval` command with --out {folder} again, it goes on where it stopped"


def _read_about(folder: Path) -> dict[str, Any]:
    """``run.json``, its fields checked."""
    if not folder.is_dir():
        raise EvalError(
            f"{folder}: expected the folder of a run, {'found a file' if folder.exists() else 'found none'}"
        )
    path = folder / "run.json"
    if not path.exists():
        raise EvalError(
            f"{folder}: expected the folder of a run, found no run.json in it; `tooldecoding eval … --out {folder}` "
            "makes one"
        )
    about = read_row(_one_line(read_text(path, EvalError)), 1, str(path), EvalError)
    kinds: dict[str, type] = dict.fromkeys(_TEXTS, str)
    kinds |= dict.fromkeys(("settings", "machine", "versions"), dict) | {"categories": list}
    kinds |= dict.fromkeys(("samples", "drawn_from"), int)
    for field, kind in kinds.items():
        _check(about, field, kind, str(path))
    for field, kind in _KNOWN_SETTINGS.items():
        if about["settings"].get(field) is not None:
            _check(about["settings"], field, kind, f"{path}, settings")
    for field in ("settings", "machine", "versions"):
        for key, value in about[field].items():
            if not isinstance(value, str | int | float | None) or (isinstance(value, int) and abs(value) > _LARGEST):
                raise EvalError(f"{path}: expected {field} of texts and numbers, found another value for {key!r}")
    if not all(isinstance(c, str) for c in about["categories"]) or not about["categories"]:
        raise EvalError(f"{path}: expected 'categories' as a list of names, found {about['categories']!r}")
    if not about["benchmark"].replace("-", "").isalnum() or not about["benchmark"].isascii():
        raise EvalError(f"{path}: expected the name of a benchmark, such as api-bank, found {about['benchmark']!r}")
    return about


def _one_line(text: str) -> str:
    """JSON has no meaning in line ends, but rows are one line."""
    return text.replace("\n", " ")


def _check(row: Mapping[str, Any], field: str, kind: type, place: str) -> None:
    value = row.get(field)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise EvalError(
            f"{place}: expected {field!r} as {kind.__name__}, found "
            f"{type(value).__name__ if field in row else 'none'}; was it written by `tooldecoding eval`?"
        )


def _read_predictions(folder: Path, samples: int) -> tuple[dict[str, Cost], int, set[str]]:
    """Costs by sample id, how many samples could not be decoded, and all ids."""
    path = folder / "predictions.jsonl"
    costs: dict[str, Cost] = {}
    predicted: set[str] = set()
    for number, row in _rows(path, folder):
        place = f"{path}:{number}"
        _check(row, "id", str, place)
        if row["id"] in predicted:
            raise EvalError(f"{place}: a second prediction for {row['id']}; delete one of the lines")
        predicted.add(row["id"])
        if not row.get("error"):
            costs[row["id"]] = _cost(row, place)
    if len(predicted) < samples:
        raise EvalError(f"{folder}: the run is not finished, {len(predicted)} of {samples} samples; {_again(folder)}")
    if len(predicted) > samples:
        raise EvalError(
            f"{path}: expected the run's {samples} samples, found {len(predicted)} rows; is this another run's file?"
        )
    return costs, len(predicted) - len(costs), predicted


def _cost(row: Mapping[str, Any], place: str) -> Cost:
    _check(row, "counters", dict, place)
    numbers = {"seconds": row.get("seconds")} | {c: row["counters"][c] for c in COUNTERS if c in row["counters"]}
    for name, value in numbers.items():
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
            raise EvalError(f"{place}: expected {name!r} as a number of 0 or more, found {str(value)[:60]}")
    return Cost(float(numbers.pop("seconds") or 0), {name: float(value or 0) for name, value in numbers.items()})


def _read_scores(folder: Path, about: Mapping[str, Any]) -> dict[str, Score]:
    path = folder / "scores.jsonl"
    scores: dict[str, Score] = {}
    for number, row in _rows(path, folder):
        score = read_score(row, f"{path}:{number}")
        if score.id in scores:
            raise EvalError(f"{path}:{number}: a second score for {score.id}; delete the file and {_again(folder)}")
        if score.category not in about["categories"]:
            raise EvalError(
                f"{path}:{number}: {score.id} is of category {score.category!r}, the run is of "
                f"{', '.join(about['categories'])}; is this another run's file?"
            )
        scores[score.id] = score
    if len(scores) != about["samples"]:
        raise EvalError(
            f"{path}: expected scores of the run's {about['samples']} samples, found {len(scores)}; {_again(folder)}"
        )
    return scores


def _rows(path: Path, folder: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows with their line numbers, read one by one: candidates can make a file large."""
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            number = 0
            while line := file.readline(MAX_LINE):
                number += 1
                if line.strip():
                    yield number, _row(line, number, path, folder)
    except FileNotFoundError:
        raise EvalError(f"{path}: no such file, the run is not finished; {_again(folder)}") from None
    except OSError as error:
        raise EvalError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise EvalError(f"{path}: expected UTF-8: {error.reason}; {_again(folder)}") from None


def _row(line: str, number: int, path: Path, folder: Path) -> dict[str, Any]:
    try:
        return read_row(line, number, str(path), EvalError)
    except EvalError as error:
        if line.endswith("\n"):
            raise
        raise EvalError(f"{error}; the file ends within this line: {_again(folder)}") from None


def read_runs(folders: Sequence[str | Path]) -> list[Run]:
    """Read runs, and make sure that each can be told from the others.

    Returns
    -------
    list of Run
        Sorted by benchmark and model as they come, then by method, order limit and label. Runs that share benchmark,
        model and label have what tells them apart added to their names.

    Raises
    ------
    EvalError
        As ``read_run``; if no folder is given, or two hold the same run.
    """
    if not folders:
        raise EvalError("expected the folders of one or more runs, found none")
    runs = [read_run(f) for f in folders]
    for index, run in enumerate(runs):
        for other in runs[:index]:
            if _identity(run) == _identity(other):
                raise EvalError(f"{run.folder}: the same run as {other.folder}; give one of them")
    runs = [_told_apart(run, [r for r in runs if r is not run and _alike(r, run)]) for run in runs]
    benchmarks = list(dict.fromkeys(r.benchmark for r in runs))
    models = list(dict.fromkeys(r.model for r in runs))
    return sorted(runs, key=lambda r: (benchmarks.index(r.benchmark), models.index(r.model), *_rank(r)))


def _alike(run: Run, other: Run) -> bool:
    return (run.benchmark, run.model, run.label) == (other.benchmark, other.model, other.label)


def _identity(run: Run) -> str:
    """Two folders with the same of this hold one run: a copy, or one folder given twice."""
    about = [run.benchmark, run.method, run.model, run.label, run.started, run.settings, run.machine, run.categories]
    return json.dumps(about, sort_keys=True, default=str)


def _told_apart(run: Run, others: Sequence[Run]) -> Run:
    """The run, its name with the settings that differ from those of runs with the same label."""
    if not others:
        return run
    differing = [
        f"{key} {run.settings.get(key)}"
        for key in sorted({k for r in (run, *others) for k in r.settings})
        if any(r.settings.get(key) != run.settings.get(key) for r in others)
    ]
    same = any(all(r.settings.get(k) == run.settings.get(k) for k in {*r.settings, *run.settings}) for r in others)
    return replace(run, name=", ".join([run.label, *differing, *([f"in {run.folder}"] if same else [])]))


def _rank(run: Run) -> tuple[int, int, int, str]:
    method = METHOD_NAMES.index(run.method) if run.method in METHOD_NAMES else len(METHOD_NAMES)
    return method, run.settings.get("order_limit") or 0, run.settings.get("shots") or 0, run.label
