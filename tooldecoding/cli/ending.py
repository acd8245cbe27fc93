"""How a command ends: its exit code, and one line on standard error for what is not the program's fault."""

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, TextIO

from lookup.errors import ToolDecodingError

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
    code, failed = 0, None
    try:
        with _terminable():
            command()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except ToolDecodingError as error:
        _say(f"error: {error}")
        code = WRONG_INPUT
    except OSError as error:
        code, failed = WRONG_INPUT, error
    lost = _flush(sys.stdout)
    if _no_reader(failed) or _no_reader(lost):
        return NO_READER if failed or not code else code
    if lost:
        failed, code = failed or lost, WRONG_INPUT
    if failed:
        _say(f"error: {_reason(failed)}")
    return code


@contextmanager
def _terminable() -> Iterator[None]:
    """Turn SIGTERM into a KeyboardInterrupt inside the block, with an exit code of its own."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets signals
        return
    terminated = False

    def stop(*_: object) -> None:
        nonlocal terminated
        terminated = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except (SystemExit, KeyboardInterrupt) as end:
        if terminated and getattr(end, "code", INTERRUPTED) == INTERRUPTED:
            raise SystemExit(TERMINATED) from None
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def _reason(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename:
        return f"{error.filename}: {reason}"
    return f"the output cannot be written: {reason}" if error.errno in _NO_ROOM else reason


def _no_reader(error: OSError | None) -> bool:
    return error is not None and error.errno == errno.EPIPE


def _flush(stream: TextIO | None) -> OSError | None:
    """Flush a stream; returns the error if that fails, and lets the interpreter flush to nowhere at its end."""
    if stream is None:
        return None
    try:
        stream.flush()
    except OSError as error:
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
        return error
    return None


def _say(line: str) -> None:
    with suppress(OSError):  # standard error may be full or closed, too
        print(line, file=sys.stderr)
