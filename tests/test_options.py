"""Options are written once: every command, YAML file and reference page is derived from dataclass fields."""

from typing import Any

import pytest
import typer.main

from tooldecoding.cli.app import COMMANDS, app


def leaves(group: Any, prefix: str = "") -> dict[str, Any]:
    found = {}
    for name, command in group.commands.items():
        found[prefix + name] = command
        if hasattr(command, "commands"):
            found |= leaves(command, f"{prefix}{name} ")
    return found


TYPER = leaves(typer.main.get_command(app))


def test_every_command_is_on_the_command_line_and_back() -> None:
    assert TYPER.keys() == {command.name for command in COMMANDS}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_option_is_on_the_command_line_with_its_help(command: Any) -> None:
    found = {parameter.name: parameter for parameter in TYPER[command.name].params}
    assert found.keys() - {"help"} == {each.name for each in command.listed}
    for each in command.listed:
        parameter = found[each.name]
        assert each.help and parameter.help == each.full_help and each.help.endswith(".")
        assert parameter.required == each.required
        assert each.positional or each.written in parameter.opts
        # what a file can switch on, the command line can switch off
        can_be_on = each in command.file_options and each.type is bool and each.only is None
        assert bool(parameter.secondary_opts) == can_be_on


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_default_is_a_value(command: Any) -> None:
    for each in (*command.options, *command.file_options):
        if not each.required:
            each.check(each.default, each.name)
