"""Reads a finished run from its folder."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, Field

from eval.errors import EvalError
from eval.metrics.score_row import Score, read_score
from eval.validation import validated
from eval.votes.value_file import read_values
from eval.votes.value_slot import ValueSlot
from lookup.text.text_file import read_text
from tooldecoding.files.json_lines import read_row

MAX_LINE: Final = 64 * 1024 * 1024
"""Longest line of a run's file, in characters."""

_LARGEST: Final = 10**15
_BENCHMARK: Final = re.compile(r"-*[A-Za-z0-9][A-Za-z0-9-]*")
_OURS: Final = "was it written by `tooldecoding eval`?"

Number = Annotated[float, Field(ge=0, le=_LARGEST)]


def _demand_scalar(value: Any) -> Any:
    if not isinstance(value, str | int | float | None) or (isinstance(value, int) and abs(value) > _LARGEST):
        raise ValueError("a text or a number")
    return value


def _demand_setting(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return value  # such as the texts that stop
    return _demand_scalar(value)


def _demand_name(value: str) -> str:
    if not _BENCHMARK.fullmatch(value):  # it becomes part of a file's name
        raise ValueError("the name of a benchmark, such as api-bank")
    return value


Scalars = dict[str, Annotated[Any, AfterValidator(_demand_scalar)]]
Settings = dict[str, Annotated[Any, AfterValidator(_demand_setting)]]


class Counters(BaseModel, frozen=True):
    """The counters that the report shows. Greedy and beam search have only the first two."""

    forward_passes: Number | None = None
    positions: Number | None = None
    forced_tokens: Number | None = None
    constrained_tokens: Number | None = None
    free_tokens: Number | None = None
    cache_bytes: Number | None = None


class Cost(BaseModel, frozen=True):
    """The cost of one prediction: seconds (an even share of its batch's), counters, and the prompt's tokens."""

    seconds: Number
    counters: Counters
    prompt_tokens: Number | None = None


class _Prediction(BaseModel):
    id: str
    error: Any = None


class _KnownSettings(BaseModel):
    order_limit: int | None = None
    orders: str | None = None
    shots: int | None = None
    batch_size: int | None = None
    seed: int | None = None


class _Manifest(BaseModel):
    benchmark: Annotated[str, AfterValidator(_demand_name)]
    method: str
    label: str
    model: str
    started: str
    settings: Settings
    machine: Scalars
    versions: Scalars
    categories: Annotated[list[str], Field(min_length=1)]
    samples: int
    drawn_from: int


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes
    ----------
    folder : Path
    benchmark, method, model, label, started : str
    name : str
        The label. If other runs share it, also the settings that differ.
    settings, machine, versions : dict
        As in ``run.json``.
    categories : tuple of str
    drawn_from : int
        Number of samples in these categories.
    scores : dict
        Sample id -> score, in the order of the file.
    costs : dict
        Sample id -> cost, for the samples that were decoded.
    errors : int
        Samples that could not be decoded.
    values : sequence of ValueSlot
        Which of its values are right; empty for methods without candidates.
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
    values: Sequence[ValueSlot]


def read_run(folder: str | Path) -> Run:
    """Read a run folder.

    Raises
    ------
    EvalError
        If the folder holds no run, or the run is malformed or not finished. The message says how to continue.
    """
    folder = Path(folder)
    manifest = _read_manifest(folder)
    costs = _read_predictions(folder, manifest.samples)
    scores = _read_scores(folder, manifest)
    for identifier in costs:
        if identifier not in scores:
            raise EvalError(
                f"{folder / 'scores.jsonl'}: no score for {identifier}, which is predicted; {_again(folder)}"
            )
    for identifier, score in scores.items():
        if not score.missing and identifier not in costs:
            raise EvalError(
                f"{folder / 'predictions.jsonl'}: no prediction for {identifier}, which is scored; {_again(folder)}"
            )
    return Run(
        folder=folder,
        name=manifest.label,
        categories=tuple(manifest.categories),
        **manifest.model_dump(exclude={"samples", "categories"}),
        scores=scores,
        costs={identifier: cost for identifier, cost in costs.items() if cost},
        errors=sum(cost is None for cost in costs.values()),
        values=read_values(folder),
    )


def _again(folder: Path) -> str:
    return f"run the same `tooldecoding eval` command with --out {folder} again, it goes on where it stopped"


def _read_manifest(folder: Path) -> _Manifest:
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
    text = read_text(path, EvalError).replace("\n", " ")  # one line: ``read_row`` names line and column
    manifest = validated(_Manifest, read_row(text, 1, str(path), EvalError), str(path), _OURS)
    validated(_KnownSettings, manifest.settings, f"{path}, settings", _OURS)
    return manifest


def _read_predictions(folder: Path, samples: int) -> dict[str, Cost | None]:
    """Return sample id -> cost; None if the sample could not be decoded."""
    path = folder / "predictions.jsonl"
    costs: dict[str, Cost | None] = {}
    for place, row in _rows(path, folder):
        prediction = validated(_Prediction, row, place, _OURS)
        if prediction.id in costs:
            raise EvalError(f"{place}: a second prediction for {prediction.id}; delete one of the lines")
        costs[prediction.id] = None if prediction.error else validated(Cost, row, place, _OURS)
    if len(costs) < samples:
        raise EvalError(f"{folder}: the run is not finished, {len(costs)} of {samples} samples; {_again(folder)}")
    if len(costs) > samples:
        raise EvalError(
            f"{path}: expected the run's {samples} samples, found {len(costs)} rows; is this another run's file?"
        )
    return costs


def _read_scores(folder: Path, manifest: _Manifest) -> dict[str, Score]:
    path = folder / "scores.jsonl"
    scores: dict[str, Score] = {}
    for place, row in _rows(path, folder):
        score = read_score(row, place)
        if score.id in scores:
            raise EvalError(f"{place}: a second score for {score.id}; delete the file and {_again(folder)}")
        if score.category not in manifest.categories:
            raise EvalError(
                f"{place}: {score.id} is of category {score.category!r}, the run is of "
                f"{', '.join(manifest.categories)}; is this another run's file?"
            )
        scores[score.id] = score
    if len(scores) != manifest.samples:
        raise EvalError(
            f"{path}: expected scores of the run's {manifest.samples} samples, found {len(scores)}; {_again(folder)}"
        )
    return scores


def _rows(path: Path, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place and row, line by line: candidates can make a file large."""
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            number = 0
            while line := file.readline(MAX_LINE):
                number += 1
                if line.strip():
                    yield f"{path}:{number}", _row(line, number, path, folder)
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
