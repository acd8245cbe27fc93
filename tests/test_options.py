"""Options are written once: every command, YAML file and reference page is derived from dataclass fields."""

import inspect
from dataclasses import MISSING, dataclass, replace
from typing import Annotated, Any, Literal

import pytest
import typer.main
from pydantic import Field as Bounds

from eval.bench.options import PEER_NAMES, SHAPE_NAMES, BenchOptions
from eval.bench.peers import PEERS
from eval.bench.subject import SHAPES
from eval.benchmarks.registry import BENCHMARKS
from tooldecoding.cli.app import COMMANDS, app
from tooldecoding.cli.reference import reference_page
from tooldecoding.errors import ConfigError
from tooldecoding.options import DecodeOptions, changed
from tooldecoding.options.decode_command import DecodeCommand
from tooldecoding.options.given import Given
from tooldecoding.options.option import Option, check_all, option, options_of
from tooldecoding.options.values import Count, Share


@dataclass(frozen=True, kw_only=True)
class Base:
    share: Share = option(0.5, "A share.")
    times: Count | None = option(None, "How often.", default_text="once")

    def __post_init__(self) -> None:
        check_all(self)


@dataclass(frozen=True, kw_only=True)
class Made(Base):
    name: str = option(..., "A name.", positional=True, metavar="NAME")
    numbers: Annotated[tuple[Count, ...], Bounds(min_length=1)] = option((1, 2), "Numbers.", commas=True)
    colours: tuple[Literal["red", "blue"], ...] = option((), "Colours.", commas=True)
    width: Annotated[float, Bounds(gt=0)] = option(1.0, "How wide.", flag="--wide")


OPTIONS = {each.name: each for each in options_of(Made)}


def test_own_options_come_before_those_of_a_base() -> None:
    assert list(OPTIONS) == ["name", "numbers", "colours", "width", "share", "times"]


@pytest.mark.parametrize(
    ("name", "flag", "values", "full_help"),
    [
        ("name", "--name", "a text", "A name."),
        ("numbers", "--numbers", "whole numbers of 1 or more, separated by commas", "Numbers. Default: 1,2."),
        ("colours", "--colours", "'red' or 'blue', separated by commas", "Colours."),
        ("width", "--wide", "a number above 0", "How wide. Default: 1.0."),
        ("share", "--share", "a number from 0 to 1", "A share. Takes a number from 0 to 1. Default: 0.5."),
        ("times", "--times", "a whole number of 1 or more", "How often. Default: once."),
    ],
)
def test_what_is_derived_from_a_field(name: str, flag: str, values: str, full_help: str) -> None:
    found = OPTIONS[name]
    assert (found.written, found.values, found.full_help) == (flag, values, full_help)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"share": 1.5}, "--share: expected a number from 0 to 1, got 1.5"),
        ({"share": True}, "--share: expected a number from 0 to 1, got True"),
        ({"times": 0}, "--times: expected a whole number of 1 or more, got 0"),
        ({"width": 0.0}, "--wide: expected a number above 0, got 0.0"),
        ({"numbers": "1,x"}, "--numbers: expected whole numbers of 1 or more, separated by commas, got '1,x'"),
        ({"numbers": "0"}, "--numbers: expected whole numbers of 1 or more, separated by commas, got '0'"),
        ({"numbers": " "}, "--numbers: expected whole numbers of 1 or more, separated by commas, got ' '"),
        ({"colours": "red,green"}, "--colours: expected 'red' or 'blue', separated by commas, got 'red,green'"),
    ],
)
def test_wrong_values_on_the_command_line(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as error:
        Given({"name": "x", **given}).read(Made)
    assert str(error.value) == said


def test_lists_are_sorted_numbers_and_each_name_once() -> None:
    made = Given({"name": "x", "numbers": "12, 1,12", "colours": "red,blue,red"}).read(Made)
    assert (made.numbers, made.colours) == ((1, 12), ("red", "blue"))


def test_values_are_checked_in_python_as_well() -> None:
    with pytest.raises(ConfigError, match=r"^share: expected a number from 0 to 1, got 2$"):
        Made(name="x", share=2)
    with pytest.raises(ConfigError, match=r"^order_limit: expected a whole number of 1 or more, got 0$"):
        changed(DecodeOptions(), {"order_limit": 0})


def test_help_on_the_options_says_what_they_do() -> None:
    said = inspect.getdoc(DecodeOptions) or ""
    assert "order_limit : a whole number of 1 or more\n    Most orders" in said
    assert all(f"\n{each.name} : " in said for each in options_of(DecodeOptions))


def test_a_path_may_hold_bytes_that_are_no_unicode() -> None:
    assert Given({"name": "\udcff"}).read(Made).name == "\udcff"


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
        if each.default is not MISSING:
            each.check(each.default, each.name)


def test_the_reference_page_has_every_option() -> None:
    page = reference_page()
    for command in COMMANDS:
        section = page[page.index(f"## tooldecoding {command.name}\n") :].partition("\n## ")[0]
        for each in command.listed:
            assert f"| `{each.name.upper() if each.positional else each.written}` |" in section
    assert "`--order-limit` | a whole number of 1 or more | 12 |" in page
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert all(line.count("|") == 5 for line in rows)


def test_names_that_are_written_where_torch_is_not_imported() -> None:
    assert set(SHAPE_NAMES) == SHAPES.keys() and set(PEER_NAMES) == PEERS.keys()
    for command in COMMANDS:
        for each in command.options:
            if each.name == "benchmark":
                assert set(str(each.metavar).split("|")) - {"batch"} == BENCHMARKS.keys()


def test_a_bench_of_nothing_unknown() -> None:
    options = Given({"shapes": "tiny", "batches": "4,1", "against": ""}).read(BenchOptions)
    assert (options.models, options.batches, options.against) == (("tiny",), (1, 4), ())
    assert options.to_json().keys() == {each.name for each in options_of(BenchOptions)} - {"out", "as_json"}


def test_what_only_the_command_line_has_is_no_setting_of_a_run() -> None:
    command = replace(DecodeCommand(prompt="x"), stop=("a", "b"))
    assert command.to_json()["stop"] == ["a", "b"] and "retry_failed" not in command.to_json()


def test_an_option_without_a_default_must_be_given() -> None:
    assert OPTIONS["name"].required and not OPTIONS["share"].required
    assert Option("x", str, MISSING, "X.").required
