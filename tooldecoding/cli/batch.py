"""``tooldecoding decode --batch``: rows in groups to workers, their results to a file or standard output."""

import sys
from functools import partial
from itertools import chain, islice

from transformers import PreTrainedTokenizerBase

from tooldecoding.batches.decode_rows import GROUP, decoding
from tooldecoding.batches.results import open_results
from tooldecoding.batches.row_sources import needed_packages, open_source
from tooldecoding.batches.rows import Entry, entries, read_content
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.templates import template_of
from tooldecoding.chat.tools import NO_TOOLS
from tooldecoding.cli.console import going_on, progress_bar, stderr_line
from tooldecoding.cli.extras import demand_extra
from tooldecoding.cli.lookup import print_misfits, print_unenforced
from tooldecoding.cluster.workers import workers_of
from tooldecoding.errors import PromptError
from tooldecoding.files.json_lines import json_line
from tooldecoding.options.decode_command import DecodeCommand


def decode_batch(name: str, documentation: Documentation | None, command: DecodeCommand) -> None:
    """Decode all rows without a result, with a progress bar, and print how many were decoded, skipped and failed.

    ToolDecodingError if rows, results, model or cluster cannot be used. Results that were written before stay.

    Parameters
    ----------
    name : str
        As ``open_source`` takes it.
    documentation : Documentation or None
        For rows without ``tools``.
    """
    if command.ray is not None:
        demand_extra("ray", "ray")
    demand_extra("batch", *needed_packages(name))
    source, stdout = open_source(name), sys.stdout  # a cluster turns the latter to standard error
    with open_results(command, documentation) as results:
        rows = (entry for entry in entries(source) if not results.has(entry))
        size = command.batch_size * (GROUP if command.ray is None else 1)  # small groups spread better
        first = list(islice(rows, size))  # what is wrong with it shows before a model is loaded
        rest = iter(lambda: list(islice(rows, size)), [])
        groups = chain([first] if first else [], rest)
        with workers_of(command, stderr_line) as workers:
            map_groups = workers.start(partial(decoding, command, documentation))
            if documentation is not None:
                print_unenforced(documentation.lookup)
            if first:
                _warn(first[0], documentation, command, workers.tokenizer)
            decoded = failed = shown = 0
            with going_on(command.out), progress_bar("decoding", source.total) as advance:
                for _, found in map_groups(groups, results.begin):
                    results.write(found)
                    for result in found if command.out is None else ():
                        print(json_line(result), file=stdout, flush=True)
                    failed += sum("error" in result for result in found)
                    decoded += len(found)
                    advance(decoded + results.skipped - shown)
                    shown = decoded + results.skipped
                advance(decoded + results.skipped - shown)
        stderr_line(f"{decoded - failed} decoded, {results.skipped} skipped, {failed} failed")
        for note in results.notes():
            stderr_line(f"note: {note}")


def _warn(
    first: Entry, documentation: Documentation | None, command: DecodeCommand, tokenizer: PreTrainedTokenizerBase
) -> None:
    """Warn if the template of the first row does not fit, and of names in ``--tools`` that its calls cannot carry."""
    try:
        content = read_content(first)
    except PromptError:  # its result says so
        return
    own = first.columns.get("tools") is not None
    if own or documentation is not None or isinstance(content, str):
        beside = NO_TOOLS if own else documentation
        template = template_of(content, beside, command, tokenizer)
        print_misfits(template, command, tokenizer, (beside or NO_TOOLS).lookup)
