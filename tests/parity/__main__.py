"""``python -m parity DATA``: the table of agreement; exit code 1 if a target is missed."""

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console

from parity.table import all_rows, as_json, print_misses, print_table, reached, tally


def main() -> int:
    parser = argparse.ArgumentParser(prog="parity", description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the corpora")
    parser.add_argument("--only", default="", help="rows whose corpus and format, as 'BFCL live, YAML', contain this")
    parser.add_argument("--misses", default="3", metavar="N", help="misses to show for each row, or 'all'")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.error(f"{options.data}: no such folder")
    if options.misses != "all" and not options.misses.isdigit():
        parser.error(f"--misses: expected a number or 'all', found {options.misses!r}")
    results = []
    progress = Console(stderr=True)
    with progress.status("") as status:
        for row in all_rows():
            title = f"{row.corpus}, {row.format}"
            if options.only.lower() in title.lower():
                status.update(title)
                results.append((row, tally(row, options.data)))
    if options.json:
        print(json.dumps([as_json(row, found) for row, found in results], ensure_ascii=False, indent=1))
    else:
        print_table(results, Console(width=None if sys.stdout.isatty() else 180))
        print_misses(results, None if options.misses == "all" else int(options.misses))
    return 0 if results and all(reached(row, found) for row, found in results) else 1


if __name__ == "__main__":
    sys.exit(main())
