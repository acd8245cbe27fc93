"""Decodes prompts in batches into files, so that an interrupted command can continue."""

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
"""Prompts that were decoded again with other vote options; ids are ``OPTIONS/ID``."""

Advance = Callable[[int], None]
ProgressBar = Callable[[str, int], AbstractContextManager[Advance]]
"""Takes a word and a total, and returns a context with a function to report progress."""


@dataclass(frozen=True)
class Collector:
    """Decodes prompts and keeps the candidates in a folder.

    Parameters
    ----------
    decoder : ToolDecoder
    folder : Path
    batch_size : int
        Number of prompts decoded together.
    bar : callable
    """

    decoder: ToolDecoder
    folder: Path
    batch_size: int
    bar: ProgressBar

    def candidates(self, prompts: Sequence[TuningPrompt], options: VoteOptions) -> dict[str, list[DecodedPrompt]]:
        """Return prompt id -> its decode. Decodes what ``candidates.jsonl`` lacks."""
        decoded = self._collect(prompts, options, CANDIDATES, "", "decoding")
        return {identifier: [one] for identifier, one in decoded.items()}

    def again(self, prompts: Sequence[TuningPrompt], options: VoteOptions) -> dict[str, DecodedPrompt]:
        """Return prompt id -> its decode with these options. Decodes what ``again.jsonl`` lacks."""
        return self._collect(prompts, options, AGAIN, f"{options.label}/", "decoding again")

    def _collect(
        self, prompts: Sequence[TuningPrompt], options: VoteOptions, file: str, prefix: str, word: str
    ) -> dict[str, DecodedPrompt]:
        path = self.folder / file
        results = ResultFile(str(path), frozenset({"prediction"}))
        try:
            with self.bar(word, len(prompts)) as advance:
                for start in range(0, len(prompts), self.batch_size):
                    group = prompts[start : start + self.batch_size]
                    # whole groups, so that an interrupted run ends in the same candidates
                    if any(prefix + prompt.id not in results.done for prompt in group):
                        rows = [self._row(prompt, p, prefix) for prompt, p in self._decode(group, options)]
                        results.write([row for row in rows if row["id"] not in results.done])
                    advance(len(group))
        finally:
            results.close()
        return _read(path, prompts, options, prefix)

    def _decode(self, group: Sequence[TuningPrompt], options: VoteOptions) -> list[tuple[TuningPrompt, Prediction]]:
        requests = [replace(r, options=options.applied(r.options)) for prompt in group if (r := prompt.request)]
        decoded = iter(predict(self._run, requests) if requests else [])
        return [(prompt, next(decoded) if prompt.request else Prediction("", error=prompt.error)) for prompt in group]

    def _run(self, requests: Sequence[Request]) -> list[Prediction]:
        return [to_prediction(result, len(requests)) for result in self.decoder.run(requests)]

    def _row(self, prompt: TuningPrompt, prediction: Prediction, prefix: str) -> dict[str, Any]:
        return {**prompt.names, **prediction.to_json(), "id": prefix + prompt.id}


def _read(path: Path, prompts: Sequence[TuningPrompt], options: VoteOptions, prefix: str) -> dict[str, DecodedPrompt]:
    wanted: Mapping[str, TuningPrompt] = {prefix + prompt.id: prompt for prompt in prompts}
    decoded: dict[str, DecodedPrompt] = {}
    for number, line in numbered_lines(read_text(path, EvalError)):
        row = read_row(line, number, str(path), EvalError)
        prompt = wanted.get(row["id"])
        if prompt is not None:
            decoded[prompt.id] = read_decoded(row, f"{path}:{number}", prompt.request, options)
    return {prompt.id: decoded[prompt.id] for prompt in prompts}
