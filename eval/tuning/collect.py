"""Decoding, several prompts together, into files that an interrupted command goes on with."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from eval.errors import EvalError
from eval.methods.choose import predict
from eval.methods.prediction import Prediction
from eval.tuning.decoded_prompt import DecodedPrompt, read_decoded, to_prediction
from eval.tuning.tuning_prompts import TuningPrompt
from eval.tuning.vote_options import VoteOptions
from lookup.text.text_file import read_text
from tooldecoding.decoder import Request, ToolDecoder
from tooldecoding.files.json_lines import numbered_lines, read_row
from tooldecoding.files.result_file import ResultFile

CANDIDATES: Final = "candidates.jsonl"
AGAIN: Final = "again.jsonl"
"""Prompts that were decoded again with a variant; ids are ``VARIANT/ID``."""

Advance = Callable[[int], None]
ProgressBar = Callable[[str, int], AbstractContextManager[Advance]]
"""Word and total -> a bar that is told what is done."""


@dataclass(frozen=True)
class Collector:
    """Decodes prompts and keeps what they wrote in a folder.

    Parameters
    ----------
    decoder : ToolDecoder
    folder : Path
    batch_size : int
        Prompts decoded together.
    bar : callable
    """

    decoder: ToolDecoder
    folder: Path
    batch_size: int
    bar: ProgressBar

    def candidates(self, items: Sequence[TuningPrompt], variant: VoteOptions) -> dict[str, list[DecodedPrompt]]:
        """TuningPrompt id -> its record, decoded unless it stands in ``candidates.jsonl``."""
        records = self._records(items, variant, CANDIDATES, "", "decoding")
        return {identifier: [record] for identifier, record in records.items()}

    def again(self, items: Sequence[TuningPrompt], variant: VoteOptions) -> dict[str, DecodedPrompt]:
        """TuningPrompt id -> a record with that variant, decoded unless it stands in ``again.jsonl``."""
        return self._records(items, variant, AGAIN, f"{variant.label}/", "decoding again")

    def _records(
        self, items: Sequence[TuningPrompt], variant: VoteOptions, file: str, prefix: str, word: str
    ) -> dict[str, DecodedPrompt]:
        path = self.folder / file
        results = ResultFile(str(path), frozenset({"prediction"}))
        try:
            with self.bar(word, len(items)) as advance:
                for start in range(0, len(items), self.batch_size):
                    group = items[start : start + self.batch_size]
                    # whole groups, so that an interrupted run ends in the same candidates
                    if any(prefix + item.id not in results.done for item in group):
                        rows = [self._row(i, p, prefix) for i, p in self._decode(group, variant)]
                        results.write([row for row in rows if row["id"] not in results.done])
                    advance(len(group))
        finally:
            results.close()
        return _read(path, items, variant, prefix)

    def _decode(self, group: Sequence[TuningPrompt], variant: VoteOptions) -> list[tuple[TuningPrompt, Prediction]]:
        requests = [replace(r, options=variant.applied(r.options)) for item in group if (r := item.request)]
        decoded = iter(predict(self._run, requests) if requests else [])
        return [(item, next(decoded) if item.request else Prediction("", error=item.error)) for item in group]

    def _run(self, requests: Sequence[Request]) -> list[Prediction]:
        return [to_prediction(result, len(requests)) for result in self.decoder.run(requests)]

    def _row(self, item: TuningPrompt, prediction: Prediction, prefix: str) -> dict[str, Any]:
        return {**item.names, **prediction.to_json(), "id": prefix + item.id}


def _read(path: Path, items: Sequence[TuningPrompt], variant: VoteOptions, prefix: str) -> dict[str, DecodedPrompt]:
    wanted: Mapping[str, TuningPrompt] = {prefix + item.id: item for item in items}
    records: dict[str, DecodedPrompt] = {}
    for number, line in numbered_lines(read_text(path, EvalError)):
        row = read_row(line, number, str(path), EvalError)
        item = wanted.get(row["id"])
        if item is not None:
            records[item.id] = read_decoded(row, f"{path}:{number}", item.request, variant)
    return {item.id: records[item.id] for item in items}
