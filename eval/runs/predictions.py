"""Reads rows of predictions, ours or others', and matches them with their samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from eval.benchmarks.samples import Benchmark, Sample
from eval.errors import EvalError
from lookup.text.text_file import read_text
from tooldecoding.files.json_lines import numbered_lines, read_row, short_repr


class PredictionRow(NamedTuple):
    """One prediction.

    Attributes
    ----------
    sample : Sample
    prediction : str
        Empty if decoding failed.
    row : dict
        The whole row.
    """

    sample: Sample
    prediction: str
    row: Mapping[str, Any]


@dataclass(frozen=True)
class Predictions:
    """The rows of one file in their order, and the samples without a row."""

    rows: tuple[PredictionRow, ...]
    missing: tuple[Sample, ...]


def read_predictions(path: str | Path, benchmark: Benchmark, samples: Sequence[Sample], repeats: bool) -> Predictions:
    """Read a JSON-lines file of predictions.

    Parameters
    ----------
    samples : sequence of Sample
        All samples that may occur.
    repeats : bool
        Whether one sample may have several predictions.

    Raises
    ------
    EvalError
        With the line, for malformed JSON (also a torn last line), no prediction, a row of another benchmark or
        category, and an unknown or repeated id.
    """
    text = read_text(path, EvalError)
    by_id = {s.id: s for s in samples}
    rows: list[PredictionRow] = []
    lines: dict[str, int] = {}
    for number, line in numbered_lines(text):
        place = f"{path}:{number}"
        row = _read_line(line, number, str(path), torn=not text.endswith("\n") and number == text.count("\n") + 1)
        try:
            identifier = benchmark.identify(row)
        except EvalError as error:
            raise EvalError(f"{place}: is this a row of {benchmark.name}? {error}") from None
        if identifier in lines and not repeats:
            raise EvalError(
                f"{place}: a second prediction for {short_repr(identifier)}, the first stands in line "
                f"{lines[identifier]}; --partial scores every row by itself"
            )
        lines.setdefault(identifier, number)
        if identifier not in by_id:
            raise EvalError(f"{place}: {_unknown(identifier, row, benchmark, by_id)}")
        sample = by_id[identifier]
        category = str(row.get("category", sample.category))
        if category != sample.category:
            raise EvalError(f"{place}: {identifier} is of category {sample.category}, the row says {category!r}")
        try:
            sample = benchmark.sample_of(row, sample)
        except EvalError as error:
            raise EvalError(f"{place}: {error}") from None
        rows.append(PredictionRow(sample, _prediction(row, place), row))
    if not rows:
        raise EvalError(f"{path}: expected predictions, one JSON object a line, found an empty file")
    return Predictions(tuple(rows), tuple(s for s in samples if s.id not in lines))


def _read_line(line: str, number: int, path: str, torn: bool) -> dict[str, Any]:
    try:
        return read_row(line, number, path, EvalError)
    except EvalError as error:
        if torn:
            raise EvalError(
                f"{error}; the file ends within this line: finish the run (eval with the same --out goes on), "
                "or delete the line"
            ) from None
        raise


def _prediction(row: Mapping[str, Any], place: str) -> str:
    prediction = row.get("prediction")
    if not isinstance(prediction, str):
        raise EvalError(f"{place}: expected a text 'prediction', found {short_repr(prediction)}")
    return prediction


def _unknown(identifier: str, row: Mapping[str, Any], benchmark: Benchmark, known: Mapping[str, Sample]) -> str:
    category = row.get("category")
    if category in benchmark.categories and category not in {s.category for s in known.values()}:
        return (
            f"{short_repr(identifier)} is of category {category}, of which no sample is being scored: "
            "--category leaves it out, or this data lacks it"
        )
    close = get_close_matches(identifier, known, n=1, cutoff=0.8) if len(identifier) < 200 else []
    nearest = f"; the nearest is {close[0]}" if close else ""
    return (
        f"{benchmark.name} has no sample {short_repr(identifier)} in this data{nearest}; "
        "are these predictions of another benchmark, or is --data another part of it?"
    )
