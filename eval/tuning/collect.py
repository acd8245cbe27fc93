"""Decodes prompts in batches into files, so that an interrupted command can continue."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from eval.errors import EvalError
from eval.methods.drafts import Draft
from eval.tuning.decoded_prompt import DecodedPrompt, read_decoded
from eval.tuning.tuning_prompts import TuningPrompt
from eval.tuning.vote_options import VoteOptions
from lookup.text.text_file import read_text
from tooldecoding.cluster.task import Workers
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
    workers : Workers
    folder : Path
    batch_size : int
        Number of prompts decoded together.
    bar : callable
    """

    workers: Workers[Any, Any]
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
        names = {prompt.id: prompt.names for prompt in prompts}
        results = ResultFile(str(path), frozenset({"prediction"}))
        try:
            with self.bar(word, len(prompts)) as advance:
                groups = self._groups(prompts, options, prefix, results.done, advance)
                for drafts, predictions in self.workers.spread(groups):
                    rows = [
                        {**names[draft.id], **prediction.to_json(), "id": prefix + draft.id}
                        for draft, prediction in zip(drafts, predictions, strict=True)
                    ]
                    results.write([row for row in rows if row["id"] not in results.done])
                    advance(len(drafts))
        finally:
            results.close()
        return _read(path, prompts, options, prefix)

    def _groups(
        self,
        prompts: Sequence[TuningPrompt],
        options: VoteOptions,
        prefix: str,
        done: Set[str | int],
        advance: Advance,
    ) -> Iterator[list[Draft]]:
        """Yield whole groups, so that an interrupted run ends in the same candidates."""
        for start in range(0, len(prompts), self.batch_size):
            group = prompts[start : start + self.batch_size]
            if all(prefix + prompt.id in done for prompt in group):
                advance(len(group))
            else:
                yield [_draft(prompt, options) for prompt in group]


def _draft(prompt: TuningPrompt, options: VoteOptions) -> Draft:
    request = prompt.request
    applied = None if request is None else replace(request, options=options.applied(request.options))
    return Draft(prompt.id, applied, prompt.error)


def _read(path: Path, prompts: Sequence[TuningPrompt], options: VoteOptions, prefix: str) -> dict[str, DecodedPrompt]:
    wanted: Mapping[str, TuningPrompt] = {prefix + prompt.id: prompt for prompt in prompts}
    decoded: dict[str, DecodedPrompt] = {}
    for number, line in numbered_lines(read_text(path, EvalError)):
        row = read_row(line, number, str(path), EvalError)
        prompt = wanted.get(row["id"])
        if prompt is not None:
            decoded[prompt.id] = read_decoded(row, f"{path}:{number}", prompt.request, options)
    return {prompt.id: decoded[prompt.id] for prompt in prompts}
