"""Inputs of the command line: files, or standard input."""

import sys

from lookup.errors import ToolDecodingError
from lookup.text.text_file import read_text


def read_input(path: str, error: type[ToolDecodingError]) -> tuple[str, str]:
    """Return the text of a file or of standard input (``-``), and its name for messages."""
    if path != "-":
        return read_text(path, error), path
    try:
        return sys.stdin.read().removeprefix("\ufeff"), "<stdin>"
    except UnicodeDecodeError:
        raise error("<stdin>: expected UTF-8 text") from None
