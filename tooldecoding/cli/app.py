"""The command line, and how a command ends: with one line on standard error for what is not the program's fault.

Exit codes: 0, also if rows of a batch failed; 1 if nobody reads the output any more; 2 for input that cannot be used
and output that cannot be written; 3 if an agent had to ask for a call and could not; 4 if it has no answer; 130 after
SIGINT, 143 after SIGTERM.
"""

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import typer

from eval.commands.bench import BENCH, BENCH_SCHEMAS
from eval.commands.bench_agents import BENCH_AGENTS
from eval.commands.bench_served import BENCH_SERVED
from eval.commands.eval import EVAL
from eval.commands.experiment import EXPERIMENT
from eval.commands.report import REPORT
from eval.commands.score import SCORE
from eval.commands.tune import TUNE
from lookup.errors import ToolDecodingError
from tooldecoding.cli.agent import AGENT
from tooldecoding.cli.console import shown
from tooldecoding.cli.decode import DECODE
from tooldecoding.cli.doctor import DOCTOR
from tooldecoding.cli.lookup import LOOKUP
from tooldecoding.cli.serve import SERVE

INTERRUPTED: Final = 128 + signal.SIGINT
TERMINATED: Final = 128 + signal.SIGTERM
WRONG_INPUT: Final = 2
NO_READER: Final = 1

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def end_well(command: Callable[[], object]) -> int:
    """Run a command and return its exit code.

    0, or the code that the command exits with; 1 if the reader of standard output is gone (``| head``); 2 with a line
    on standard error for a ``ToolDecodingError``, a full disk and the like; 130 after SIGINT; 143 after SIGTERM, which
    ends a command as SIGINT does.
    """
    code, terminated = 0, threading.Event()
    failed: OSError | None = None

    def stop(*_: object) -> None:
        terminated.set()
        raise KeyboardInterrupt

    in_main = threading.current_thread() is threading.main_thread()  # only the main thread gets signals
    before = signal.signal(signal.SIGTERM, stop) if in_main else None
    try:
        command()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except ToolDecodingError as cause:
        _say(str(cause))
        code = WRONG_INPUT
    except OSError as cause:
        code, failed = WRONG_INPUT, cause
    finally:
        if in_main:
            signal.signal(signal.SIGTERM, before)
    if terminated.is_set() and code == INTERRUPTED:
        code = TERMINATED
    lost = _flush()
    if errno.EPIPE in (failed and failed.errno, lost and lost.errno):
        return NO_READER if failed or not code else code
    if error := failed or lost:
        reason = error.strerror or str(error)
        place = "the output cannot be written: " if error.errno in _NO_ROOM else ""
        _say(f"{error.filename}: {reason}" if error.filename else place + reason)
        code = WRONG_INPUT
    return code


def _flush() -> OSError | None:
    """Flush standard output; returns the error if that fails, and lets the interpreter flush to nowhere at its end."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        return error
    return None


def _say(reason: str) -> None:
    with suppress(OSError):  # standard error may be full or closed, too
        print(f"error: {shown(reason)}", file=sys.stderr)


COMMANDS: Final = (
    LOOKUP,
    DECODE,
    SERVE,
    AGENT,
    DOCTOR,
    EVAL,
    SCORE,
    REPORT,
    EXPERIMENT,
    TUNE,
    BENCH,
    BENCH_SCHEMAS,
    BENCH_AGENTS,
    BENCH_SERVED,
)
"""All commands, in the sequence of ``--help``."""

app = typer.Typer(
    help="Tool calls from any causal language model, decoded under constraint and voted over several orders.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
bench = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
for each in COMMANDS:
    if each is BENCH:
        bench.callback(invoke_without_command=True)(each.for_typer())
        app.add_typer(bench, name=each.name)
    else:
        group = bench if each.name.startswith(f"{BENCH.name} ") else app
        group.command(each.name.split()[-1])(each.for_typer())


def main() -> None:
    """Run the command line; exits with one line on standard error for what a user can get wrong."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")
    sys.exit(end_well(app))
