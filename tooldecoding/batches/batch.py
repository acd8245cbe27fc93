"""``decode --batch``: rows one by one, in groups to workers, their results to a file."""

import sys
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from typing import Final

import typer
from transformers import PreTrainedTokenizerBase

from tooldecoding.batches.decode_task import beginning, decoding
from tooldecoding.batches.results import Results, open_results
from tooldecoding.batches.rows import Entry, entries
from tooldecoding.batches.sources import Source, needed_packages, open_source
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Conversation
from tooldecoding.chat.templates import Content, template_of
from tooldecoding.chat.tools import NO_TOOLS
from tooldecoding.cli.console import progress_bar
from tooldecoding.cli.extras import demand_extra, demand_ray
from tooldecoding.cli.lookup import print_misfits, print_unenforced
from tooldecoding.cluster.place import place_of
from tooldecoding.options.decode_command import DecodeCommand

_CONTENT_OF: Final[dict[str, Content]] = {"prompt": "", "messages": Conversation(()), "dialogue": ()}
"""Column -> a content of the type that it gives; templates depend on the type alone."""


def decode_batch(name: str, documentation: Documentation | None, command: DecodeCommand) -> None:
    """Decode all rows without a result, with a progress bar, and print how many were decoded, skipped and failed.

    Parameters
    ----------
    name : str
        As ``open_source`` takes it.
    documentation : Documentation or None
        For rows without ``tools``.

    Raises
    ------
    ToolDecodingError
        If rows, results, model or cluster cannot be used. Results that were written before stay.
    """
    demand_ray(command)
    demand_extra("batch", *needed_packages(name))
    source = open_source(name)
    with open_results(command, documentation) as results:
        rows = _Undone(source, results)
        first = list(islice(rows, command.batch_size))  # what is wrong with it shows before a model is loaded
        rest = iter(lambda: list(islice(rows, command.batch_size)), [])
        groups = chain([first] if first else [], rest)
        with place_of(command) as place:
            spread = place.start(partial(decoding, command, documentation), beginning)
            if documentation is not None:
                print_unenforced(documentation.lookup)
            if first:
                _warn(first[0], documentation, command, place.tokenizer)
            decoded = failed = 0
            try:
                with progress_bar("decoding", source.total) as advance:
                    for _, found in spread(groups, results.begin):
                        results.write(found)
                        failed += sum("error" in result for result in found)
                        decoded += len(found)
                        advance(len(found) + rows.newly_skipped())
                    advance(rows.newly_skipped())
            except KeyboardInterrupt:
                raise _interrupted(command) from None
        print(f"{decoded - failed} decoded, {rows.skipped} skipped, {failed} failed", file=sys.stderr)
        for note in results.notes():
            print(f"note: {note}", file=sys.stderr)


class _Undone:
    """The rows of a batch that have no result yet; ``skipped`` counts the others."""

    def __init__(self, source: Source, results: Results) -> None:
        self.skipped = 0
        self._shown = 0
        self._entries = entries(source)
        self._results = results

    def __iter__(self) -> Iterator[Entry]:
        return self

    def __next__(self) -> Entry:
        for entry in self._entries:
            if not self._results.has(entry):
                return entry
            self.skipped += 1
        raise StopIteration

    def newly_skipped(self) -> int:
        """Return how many rows were skipped since it was asked last."""
        before, self._shown = self._shown, self.skipped
        return self.skipped - before


def _warn(
    first: Entry, documentation: Documentation | None, command: DecodeCommand, tokenizer: PreTrainedTokenizerBase
) -> None:
    """Warn if the template of the first row does not fit, and of names in ``--tools`` that its calls cannot carry."""
    if first.columns is None or first.content is None:
        return
    own = first.columns.get("tools") is not None
    if own or documentation is not None or first.content == "prompt":
        beside = NO_TOOLS if own else documentation
        template = template_of(_CONTENT_OF[first.content], beside, command, tokenizer)
        print_misfits(template, command, tokenizer, (beside or NO_TOOLS).lookup)


def _interrupted(command: DecodeCommand) -> typer.Exit:
    """Say how to go on."""
    resume = "use --out to resume"
    if command.out is not None:
        resume = f"the same command goes on behind what stands in {command.out}"
    print(f"interrupted: {resume}", file=sys.stderr)
    return typer.Exit(130)
