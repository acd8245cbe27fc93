"""Reads rows of predictions, ours or others', and matches them with their samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from eval.benchmarks.samples import Benchmark, Sample
from eval.errors import EvalError
from eval.methods.prediction import read_leniently
from eval.validation import read_rows
from tooldecoding.files.json_lines import short_repr
from tooldecoding.formats.known_formats import CALL_FORMATS


class PredictionRow(NamedTuple):
    """One prediction.

    Attributes
    ----------
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


def leniently(predictions: Predictions, benchmark: Benchmark) -> Predictions:
    """Return predictions with the calls that ``read_leniently`` finds in them; those without stay as they are."""
    written = CALL_FORMATS[benchmark.call_format]
    rows = []
    for given in predictions.rows:
        calls = read_leniently(str(given.row.get("written", given.prediction)))
        rows.append(given._replace(prediction=written.render(calls)) if calls else given)
    return replace(predictions, rows=tuple(rows))


def read_predictions(path: str | Path, benchmark: Benchmark, samples: Sequence[Sample]) -> Predictions:
    """Read a JSON-lines file of predictions.

    EvalError, with the line, for malformed JSON (also a torn last line), no prediction, a row of another benchmark or
    category, and an unknown or repeated id.

    ``samples``: all samples that may occur.
    """
    again = "finish the run (eval with the same --out goes on), or delete the line"
    by_id = {s.id: s for s in samples}
    rows: list[PredictionRow] = []
    places: dict[str, str] = {}
    for place, row in read_rows(Path(path), again):
        try:
            identifier = benchmark.identify(row)
        except EvalError as error:
            raise EvalError(f"{place}: is this a row of {benchmark.name}? {error}") from None
        if identifier in places:
            raise EvalError(
                f"{place}: a second prediction for {short_repr(identifier)}, the first stands in {places[identifier]}"
            )
        places[identifier] = place
        if identifier not in by_id:
            raise EvalError(
                f"{place}: {benchmark.name} has no sample {short_repr(identifier)} in this data; are these predictions "
                "of another benchmark, is --data another part of it, or does --category leave it out?"
            )
        sample = by_id[identifier]
        category = str(row.get("category", sample.category))
        if category != sample.category:
            raise EvalError(f"{place}: {identifier} is of category {sample.category}, the row says {category!r}")
        if not isinstance(row.get("prediction"), str):
            raise EvalError(f"{place}: expected a text 'prediction', found {short_repr(row.get('prediction'))}")
        rows.append(PredictionRow(sample, row["prediction"], row))
    if not rows:
        raise EvalError(f"{path}: expected predictions, one JSON object a line, found an empty file")
    return Predictions(tuple(rows), tuple(s for s in samples if s.id not in places))
