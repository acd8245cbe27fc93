"""``python -m boundaries SHARED``: the table of calls that came otherwise than wanted; exit code 1 if any did."""

import argparse
import itertools
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import track

from boundaries.gold import gold_cases
from boundaries.judge import Judge
from boundaries.table import AGAINST, Tally, check, print_misses, print_table
from boundaries.vocabularies import real_decoder, vocabularies


def main() -> int:
    parser = argparse.ArgumentParser(prog="boundaries", description=__doc__)
    parser.add_argument("shared", type=Path, help="the folder with data and tokenizers")
    parser.add_argument("--vocabulary", default="", help="vocabularies whose name contains this")
    parser.add_argument("--limit", type=int, metavar="N", help="calls of each corpus in each format")
    parser.add_argument("--against", choices=AGAINST, help="what else the model likes; by default one after the other")
    parser.add_argument("--misses", type=int, default=3, metavar="N", help="misses to show for each vocabulary")
    options = parser.parse_args()
    names = [name for name in vocabularies(options.shared) if options.vocabulary in name]
    if not names:
        parser.error(f"{options.shared}: expected tokenizers/NAME/tokenizer.json with {options.vocabulary!r} in NAME")
    progress = Console(stderr=True)
    with progress.status("reading the corpora"):
        cases = gold_cases(options.shared / "data", options.limit)
    tallies = []
    try:
        for name, marked in itertools.product(names, (False, True)):
            shown_name = f"{name}, marks as tokens" if marked else name
            tallies.append(Tally(shown_name))
            judge = Judge(shown_name, real_decoder(options.shared, name, marked))
            shown = track(cases, shown_name, console=progress, disable=not sys.stderr.isatty())
            check(judge, shown, AGAINST if options.against is None else (options.against,), tallies[-1])
            if not sys.stderr.isatty():
                misses = len(tallies[-1].misses)
                print(f"{shown_name}: {len(cases)} cases, {misses} misses", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("interrupted: what was found so far", file=sys.stderr)
    print_table(tallies, Console(width=None if sys.stdout.isatty() else 180))
    print_misses(tallies, options.misses)
    return 1 if any(tally.misses for tally in tallies) or not any(tally.tried for tally in tallies) else 0


if __name__ == "__main__":
    sys.exit(main())
