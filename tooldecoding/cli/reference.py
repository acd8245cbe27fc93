"""The reference page of all commands, made from their options: ``python -m tooldecoding.cli.reference``."""

import re
from collections.abc import Iterator

from tooldecoding.cli.app import COMMANDS
from tooldecoding.cli.command import CONFIG, Command
from tooldecoding.options.option import Option

_INTRODUCTION = """# Commands

Made from the options in the code by `python -m tooldecoding.cli.reference`.
Options of the command line go before those of a YAML file (`--config`), and those before the defaults.
In a YAML file an option stands under its name with `_`: `--order-limit 4` is `order_limit: 4`."""


def reference_page() -> str:
    """Return Markdown with a section for each command: what it does, and a table of its options."""
    sections = ["\n".join(_section(command)) for command in COMMANDS]
    return "\n\n".join([_INTRODUCTION, *sections]) + "\n"


def _section(command: Command) -> Iterator[str]:
    yield f"## tooldecoding {command.name}"
    yield ""
    yield " ".join(command.help.split())
    yield ""
    yield "| option | values | default | meaning |"
    yield "| --- | --- | --- | --- |"
    for option in (*command.listed, *(option for option in command.file_options if option.only == "file")):
        cells = (_name(option), _values(option), _default(option), _meaning(option, command))
        yield f"| {' | '.join(cells)} |"


def _name(option: Option) -> str:
    if option.only == "file":
        return f"`{option.name}:`"
    return f"`{option.name.upper()}`" if option.positional else f"`{option.written}`"


def _values(option: Option) -> str:
    if option.values == "true or false":
        return "switch"
    if option.values == "a text" and option.metavar:
        return ", ".join(f"`{name}`" for name in option.metavar.split("|"))
    return re.sub(r"'([\w.-]+)'", r"`\1`", option.values)


def _default(option: Option) -> str:
    return "must be given" if option.required else option.shown_default


def _meaning(option: Option, command: Command) -> str:
    if option.only == "file":
        return f"{option.help} Only in a file."
    is_key = not command.file_options or option is CONFIG or (option in command.file_options and option.only is None)
    return option.help if is_key else f"{option.help} Not in a file.".lstrip()


if __name__ == "__main__":
    print(reference_page(), end="")
