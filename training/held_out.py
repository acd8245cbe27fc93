"""Write held-out requests and dialogues: ``python -m training.held_out --out DIR``.

``DIR/questions`` is for ``eval bfcl-live``, ``DIR/dialogues`` for ``eval sgd``. Their words are never trained on.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tooldecoding.cli.ending import end_well
from training.evaluation.benchmark_files import write


def main(
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    count: Annotated[int, typer.Option(min=1, help="Requests of each category, and dialogues.")] = 100,
) -> None:
    """Write held-out synthetic requests and dialogues."""
    write(out, count)
    typer.echo(f"{out}/questions for eval bfcl-live, {out}/dialogues for eval sgd")


if __name__ == "__main__":
    sys.exit(end_well(lambda: typer.run(main)))
