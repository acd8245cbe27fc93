"""Options: each written once, for the command line, files and help; errors name the flag, or file, line and key."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest
import typer.main

from eval.options import EvalOptions
from test_docs import commands
from tooldecoding.cli.app import COMMANDS, app
from tooldecoding.cli.reference import default_file
from tooldecoding.errors import ConfigError
from tooldecoding.options import DecodeOptions
from tooldecoding.options.decode_command import DecodeCommand, read_decode_command
from tooldecoding.options.option import Count, option
from tooldecoding.options.parsed_arguments import CONFIG_FOLDER, ParsedArguments, read_config
from tooldecoding.options.serve_command import ServeCommand


@dataclass(frozen=True)
class Limits:
    """Numbers with commas."""

    limits: tuple[Count, ...] = option((1,), "Limits.", commas=True)


TYPER = dict(commands(typer.main.get_command(app)))


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
    for each in (*command.options, *command.file_options):
        if not each.required:
            each.check(each.default, each.name)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "run.yaml"


def test_command_line_over_file_over_default(config: Path) -> None:
    config.write_text("order_limit: 5\nseed: 7\ndialogue: d.jsonl\n")
    given = ParsedArguments({"prompt": "x", "order_limit": 3, "seed": None}, str(config))
    command = read_decode_command(given)
    assert (command.order_limit, command.seed, command.batch_size, command.dialogue) == (3, 7, 8, None)
    merged = given.merge(DecodeCommand, {"seed": 1, "batch_size": 2})
    assert (merged.seed, merged.batch_size) == (7, 2)


@pytest.mark.parametrize(
    ("door", "own"),
    [(DecodeCommand, {}), (ServeCommand, {}), (EvalOptions, {"format": "api-bank", "tool_choice": "auto"})],
)
def test_every_door_has_the_same_defaults(door: Any, own: dict[str, Any]) -> None:
    expected, found = ({field.name: field.default for field in fields(each)} for each in (DecodeOptions, door))
    assert {name: found.get(name, default) for name, default in expected.items()} == expected | own


def test_numbers_with_commas_are_sorted_each_once() -> None:
    assert ParsedArguments({"limits": "9, 1,9,2"}).merge(Limits, {}).limits == (1, 2, 9)


def test_a_path_may_hold_bytes_that_are_not_utf8() -> None:
    assert DecodeCommand(tools="a\udcff.json").tools == "a\udcff.json"


def test_shipped_files_are_right_and_the_default_file_holds_the_defaults() -> None:
    for path in CONFIG_FOLDER.glob("*.yaml"):
        read_config(str(path), DecodeCommand)
    given = read_config(str(CONFIG_FOLDER / "default.yaml"), DecodeCommand)
    assert given == {key: getattr(DecodeCommand(), key) for key in given}
    assert {f.name for f in fields(DecodeOptions)} <= given.keys()
    assert (CONFIG_FOLDER / "default.yaml").read_text(encoding="utf-8") == default_file()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed: 1\norder_limits: 3\n", ":2: unknown setting 'order_limits'; did you mean 'order_limit'?"),
        ("order_limit: twelve\n", ":1: order_limit: expected a whole number of 1 or more, got 'twelve'"),
        ("order_limit: 0\n", ":1: order_limit: expected a whole number of 1 or more, got 0"),
        ("draft_tokens: -1\n", ":1: draft_tokens: expected a whole number of 0 or more, got -1"),
        ("json: 1\n", ":1: json: expected true or false, got 1"),
        ("tools: 3\n", ":1: tools: expected a text, got 3"),
        ("orders: up\n", "expected 'shuffled', 'documented', 'reversed', 'shuffled-once' or 'aggregated', got 'up'"),
        ("optional_share: .nan\n", ":1: optional_share: expected a number from 0 to 1, got nan"),
        ("trust_remote_code: true\n", ":1: trust_remote_code stands on the command line alone: --trust-remote-code"),
        ("seed: 1\nseed: 2\n", ":2: setting 'seed' stands twice"),
        ("- seed\n", "expected settings as 'key: value' lines, found a list"),
        ("seed: [1\n", ":2:1: malformed YAML"),
        ("seed: 2024-99-99\n", "malformed YAML"),
    ],
)
def test_bad_files(config: Path, text: str, said: str) -> None:
    config.write_text(text)
    with pytest.raises(ConfigError) as error:
        read_decode_command(ParsedArguments({"prompt": "x"}, str(config)))
    assert str(error.value).startswith(str(config))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"order_limit": 0}, "--order-limit: expected a whole number of 1 or more, got 0"),
        ({"prompt": None}, "expected exactly one of --prompt, --messages, --dialogue and --batch, got none of them"),
        ({"out": "x"}, "--out takes the results of a --batch"),
        ({"seed": 2**64}, "--seed: expected a whole number of 64 bits, got"),
        ({"ray": "local"}, "--ray spreads the rows of a --batch"),
        ({"retry_failed": True}, "--retry-failed takes failed rows from the results in --out"),
        ({"tools": "-", "prompt": "-"}, "standard input can be read once"),
    ],
)
def test_bad_command_lines(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_decode_command(ParsedArguments({"prompt": "x", **given}))
    assert str(error.value).startswith(said)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        read_decode_command(ParsedArguments({"prompt": "x"}, str(tmp_path / "none.yaml")))
    known = ", ".join(sorted(path.stem for path in CONFIG_FOLDER.glob("*.yaml")))
    with pytest.raises(ConfigError, match=f"known: {known}$"):
        read_decode_command(ParsedArguments({"prompt": "x"}, "none"))
