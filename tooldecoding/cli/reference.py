"""Texts made from the options: reference page and default settings; ``python -m tooldecoding.cli.reference``."""

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import yaml

from tooldecoding.cli.app import COMMANDS
from tooldecoding.cli.command import CONFIG, Command
from tooldecoding.options.decode_command import INPUTS, DecodeCommand
from tooldecoding.options.option import Option, options_of

_INTRODUCTION: Final = """# Commands

Made from the options in the code by `python -m tooldecoding.cli.reference docs/commands.md`.
Options of the command line go before those of a YAML file (`--config`), and those before the defaults.
In a YAML file an option stands under its name with `_`: `--order-limit 4` is `order_limit: 4`."""

_OF_ONE_DECODE: Final = ("tools", *INPUTS, "out", "ray", "actors", "gpus_per_actor")

_HEAD: Final = f"""\
# Every option that decides how a call is decoded, with its default. Also allowed in such a file:
# {", ".join(_OF_ONE_DECODE)}
# (as the options of the same names; paths from the working directory).
# Made by `python -m tooldecoding.cli.reference configs/default.yaml`.
"""


def reference_page() -> str:
    """Return Markdown with a section for each command: what it does, and a table of its options."""
    return "\n\n".join([_INTRODUCTION, *("\n".join(_section(command)) for command in COMMANDS)]) + "\n"


def _section(command: Command) -> Iterator[str]:
    yield f"## tooldecoding {command.name}"
    yield ""
    yield " ".join((inspect.getdoc(command.run) or "").split())
    yield ""
    yield "| option | values | default | meaning |"
    yield "| --- | --- | --- | --- |"
    for option in command.listed:
        name = f"`{option.name.upper()}`" if option.positional else f"`{option.written}`"
        default = "must be given" if option.required else option.shown_default
        yield f"| {' | '.join((name, _values(option), default, _meaning(option, command)))} |"


def _values(option: Option) -> str:
    if option.values == "true or false":
        return "switch"
    if option.values == "a text" and option.metavar:
        return ", ".join(f"`{name}`" for name in option.metavar.split("|"))
    return re.sub(r"'([\w.-]+)'", r"`\1`", option.values)


def _meaning(option: Option, command: Command) -> str:
    is_key = not command.file_options or option is CONFIG or (option in command.file_options and option.only is None)
    return option.help if is_key else f"{option.help} Not in a file."


def default_file() -> str:
    """Return YAML with each option that decides how a call is decoded, and its default."""
    return _HEAD + "".join(f"\n{line}\n" for line in _entries())


def _entries() -> Iterator[str]:
    for option in options_of(DecodeCommand):
        if option.only != "command line" and option.name not in _OF_ONE_DECODE:
            null = f" null: {option.default_text}." if option.default is None and option.default_text else ""
            entry = yaml.safe_dump({option.name: option.default}).strip()
            yield f"# {option.help} Takes {option.values}.{null}\n{entry}"


if __name__ == "__main__":
    made = {"docs/commands.md": reference_page, "configs/default.yaml": default_file}
    for name in sys.argv[1:] or made:
        Path(name).write_text(made[name](), encoding="utf-8")
