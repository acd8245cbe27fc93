"""``decode --batch``: rows one by one, in groups to workers, their results to a file."""

import sys
from functools import partial
from itertools import chain, islice
from typing import Final

import typer
from transformers import PreTrainedTokenizerBase

from tooldecoding.batches.decode_task import GROUP, beginning, decoding
from tooldecoding.batches.results import open_results
from tooldecoding.batches.rows import Entry, entries
from tooldecoding.batches.sources import needed_packages, open_source
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
        rows = (entry for entry in entries(source) if not results.has(entry))
        size = command.batch_size * (GROUP if command.ray is None else 1)  # small groups spread better
        first = list(islice(rows, size))  # what is wrong with it shows before a model is loaded
        rest = iter(lambda: list(islice(rows, size)), [])
        groups = chain([first] if first else [], rest)
        with place_of(command) as place:
            spread = place.start(partial(decoding, command, documentation), beginning)
            if documentation is not None:
                print_unenforced(documentation.lookup)
            if first:
                _warn(first[0], documentation, command, place.tokenizer)
            decoded = failed = shown = 0
            try:
                with progress_bar("decoding", source.total) as advance:
                    for _, found in spread(groups, results.begin):
                        results.write(found)
                        failed += sum("error" in result for result in found)
                        decoded += len(found)
                        advance(decoded + results.skipped - shown)
                        shown = decoded + results.skipped
                    advance(decoded + results.skipped - shown)
            except KeyboardInterrupt:
                raise _interrupted(command) from None
        print(f"{decoded - failed} decoded, {results.skipped} skipped, {failed} failed", file=sys.stderr)
        for note in results.notes():
            print(f"note: {note}", file=sys.stderr)


def _warn(
    first: Entry, documentation: Documentation | None, command: DecodeCommand, tokenizer: PreTrainedTokenizerBase
) -> None:
    """Warn if the template of the first row does not fit, and of names in ``--tools`` that its calls cannot carry."""
    if first.content is None:
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
