"""``configs/default.yaml``, made from the options: ``python -m tooldecoding.options.default_file``."""

from collections.abc import Iterator
from typing import Final

import yaml

from tooldecoding.options.decode_command import INPUTS, DecodeCommand
from tooldecoding.options.option import Option, options_of

_OF_ONE_DECODE: Final = ("tools", *INPUTS, "out", "ray", "actors", "gpus_per_actor")

_HEAD: Final = f"""\
# Every option that decides how a call is decoded, with its default. Also allowed in such a file:
# {", ".join(_OF_ONE_DECODE)}
# (as the options of the same names; paths from the working directory).
# Made by `python -m tooldecoding.options.default_file`.
"""


def default_file() -> str:
    """Return the text of the file."""
    return _HEAD + "".join(f"\n{line}\n" for line in _entries())


def _entries() -> Iterator[str]:
    for option in options_of(DecodeCommand):
        if option.only != "command line" and option.name not in _OF_ONE_DECODE:
            yield f"# {_comment(option)}\n{yaml.safe_dump({option.name: option.default}).strip()}"


def _comment(option: Option) -> str:
    default = f" null: {option.default_text}." if option.default is None and option.default_text else ""
    return f"{option.help} Takes {option.values}.{default}"


if __name__ == "__main__":
    print(default_file(), end="")
