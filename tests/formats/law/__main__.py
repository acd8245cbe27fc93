"""``python -m formats.law SHARED``: the table of law 1, format by judge; exit code 1 if a judge refuses a call."""

import argparse
import itertools
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import track

from formats.law.documents import documents
from formats.law.judges import has_xgrammar, judges_of
from formats.law.law import FORMATS, Tally, judge_document


def main() -> int:
    parser = argparse.ArgumentParser(prog="formats.law", description=__doc__)
    parser.add_argument("shared", type=Path, help="the folder with data and judges")
    parser.add_argument("--step", type=int, default=1, metavar="N", help="every Nth document")
    parser.add_argument("--formats", default=",".join(FORMATS), help="names with commas between them")
    parser.add_argument("--misses", type=int, default=3, metavar="N", help="refused calls to show for each format")
    options = parser.parse_args()
    read = list(itertools.islice(documents(options.shared / "data"), 0, None, options.step))
    if not read:
        parser.error(f"{options.shared}: expected data/ with the corpora")
    progress, tallies = Console(stderr=True), list[Tally]()
    try:
        for name in options.formats.split(","):
            tallies.append(tally := Tally(name))
            shown = track(list(enumerate(read)), name, console=progress, disable=not sys.stderr.isatty())
            for number, document in shown:
                judge_document(document, number, FORMATS[name], tally)
            if not sys.stderr.isatty():
                print(
                    f"{name}: {len(read)} documents, {sum(tally.refused.values())} refused", file=sys.stderr, flush=True
                )
    except KeyboardInterrupt:
        print("interrupted: what was found so far", file=sys.stderr)
    print_table(tallies, options.misses)
    return 1 if any(tally.refused for tally in tallies) or not tallies else 0


def print_table(tallies: list[Tally], misses: int) -> None:
    """Markdown: a row for each format and judge, and below it why calls were not judged."""
    print("| format | judge | calls | refused | excluded |\n|---|---|--:|--:|--:|")
    for tally in tallies:
        for judge in dict.fromkeys([*judges_of(tally.format), *tally.refused]):
            excluded = sum(count for (who, _), count in tally.excluded.items() if who == judge)
            installed = judge != "xgrammar" or has_xgrammar()
            cells = (tally.calls[judge], tally.refused[judge], excluded) if installed else ("not installed", "", "")
            print(f"| {tally.format} | {judge} | {' | '.join(map(str, cells))} |")
    print("\n| format | judge | excluded | because |\n|---|---|--:|---|")
    for tally in tallies:
        for (judge, why), count in sorted(tally.excluded.items()):
            print(f"| {tally.format} | {judge} | {count} | {why} |")
    for tally in tallies:
        for example in tally.examples[:misses]:
            print(f"\n{example}")


if __name__ == "__main__":
    sys.exit(main())
