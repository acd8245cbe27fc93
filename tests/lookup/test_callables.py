"""Live functions give the tools of their source text; pydantic models and other objects are read wherever they are."""

import functools
import typing
from collections.abc import Callable, Collection
from dataclasses import InitVar, dataclass, field
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, Field, RootModel, create_model
from seams import key_text, only, tool_text

from lookup import DocumentationError, extract
from lookup.grammar.literal_values import read_value, render_value
from lookup.grammar.value_grammar import value_grammar
from tools import accepts
from voting import check_value


# fmt: off
def odd(
    a: datetime, b: Any = ..., c: Callable[[int], str] = print, d: None = None, e: float = float("inf"),
    f: "Nowhere" = None, g: "1 / 0" = None, *args: int, **rest,  # noqa: F821
): ...
# fmt: on


def test_what_has_no_literal_or_no_schema_is_noted():
    tool = only([odd])
    keys = "a!: str, b: any, c: any, d: any = null, e: float, f: any = null, g: any = null"
    assert ", ".join(map(key_text, tool.parameters)) == keys
    notes = " ".join(tool.notes)
    assert all(repr(key) in notes for key in "bce") and "CallableSchema" in notes and "*args" in notes
    assert "'f' cannot be resolved: Nowhere" in notes and "'g' cannot be resolved: 1 / 0" in notes and "**rest" in notes

    class Foreign:
        def __repr__(self):
            raise ValueError

    def foreign(a: Foreign, b: list[Foreign] = Foreign()): ...  # noqa: B008

    live = only([foreign])
    assert list(map(key_text, live.parameters)) == ["a!: any", "b: any"]
    assert len(live.notes) == 3


class Unit(Enum):
    C = "c"
    F = "f"


class Place(BaseModel):
    """A place."""

    city: str
    zone: Literal[1, 2] | None = Field(None, description="The zone.")


class Tools:
    """Has tools."""

    def method(self, a: int, b: str = "x"):
        """Does."""

    def __call__(self, a: "Unit"):
        pass


def add(a: int, b: int, c: object = None):
    """Adds."""


def test_what_else_can_be_called():
    def text(function):
        return tool_text(only([function]))

    assert text(Tools().method) == text(Tools.method) == 'method(a!: int, b: str = "x") -> Does.'
    assert text(Tools()) == 'Tools(a!: str in ["c", "f"]) -> Has tools.'
    part = functools.partial(functools.partial(add, 1), b=2)
    updated = functools.update_wrapper(functools.partial(add, 1, b=2), add)
    assert text(part) == text(updated) == "add(b: int = 2, c: any = null) -> Adds."
    unwritable = functools.partial(add, b=object())
    assert text(unwritable) == "add(a!: int, b: int, c: any = null) -> Adds." and only([unwritable]).notes

    @functools.wraps(add)
    def wrapped(*args, **kwargs): ...

    assert only([wrapped]) == only([functools.lru_cache(add)]) == only([add])


@pytest.mark.parametrize(
    "what", [max, type, int, Tools, lambda a: a, 3, "f", None], ids=lambda what: getattr(what, "__name__", str(what))
)
def test_what_is_no_tool(what):
    with pytest.raises(DocumentationError):
        only([what])


class Trip(BaseModel):
    """Books a trip.

    Attributes:
        to: Where to.
        X-Header: Not this.
    """

    to: Place
    via: list[Place] = []
    unit: Unit = Unit.F
    mixed: Literal["a", 1] = "a"
    corner: tuple[int, int] = (0, 0)
    call: Callable[[], int] = print
    header: Annotated[str, Field(alias="X-Header", description="Optional. A header.")]
    again: "Trip | None" = None


def test_a_model_documents_its_fields():
    tool = only([Trip])
    assert (tool.name, tool.description) == ("Trip", "Books a trip.")
    place = "{city!: str, zone: int? in [1, 2] = null # The zone.}"
    assert [key_text(p).partition(" # Books a trip.")[0] for p in tool.parameters] == [
        f"to!: {place} # Where to.", f"via: list[{place}] = []", 'unit: str in ["c", "f"] = "f"',
        'mixed: str | int in ["a", 1] = "a"', "corner: tuple[int] = [0, 0]", "call: any",
        "X-Header!: str # Optional. A header.", "again: dict? = null",
    ]  # fmt: skip
    assert [p.raw_type for p in tool.parameters[:4]] == [
        f"{__name__}.Place", f"list[{__name__}.Place]", f"{__name__}.Unit", "Literal['a', 1]",
    ]  # fmt: skip
    assert "CallableSchema" in " ".join(tool.notes)
    with pytest.raises(DocumentationError, match="Anything"):
        only([type("Anything", (RootModel[list[int]],), {})])


def test_a_field_that_is_read_from_a_path_is_no_parameter():
    def field(alias: Any, **default: Any) -> Any:
        return Annotated[int, Field(validation_alias=alias, **default)]

    path = AliasPath("a", 0)
    model = create_model("Paths", x=field(path, default=1), y=field(AliasChoices(path, "b")), z=field("c"))
    tool = only([model])
    assert [p.name for p in tool.parameters] == ["b", "c"] and "'x' is read from a path" in " ".join(tool.notes)
    with pytest.raises(DocumentationError, match="'x' is read from a path"):
        only([create_model("Paths", x=field(path))])


@dataclass
class Route:
    """Plans a route.

    Attributes:
        via: Places between.
    """

    to: Place
    leg: "Leg"
    via: list[Place] = field(default_factory=list)
    on: date | None = None
    made: int = field(init=False, default=0)
    label: InitVar[str] = "x"


class Leg(typing.TypedDict):
    """A leg."""

    day: date
    unit: typing.NotRequired[Unit]


class Corner(Enum):
    LOW = (0, 0)
    DAY = date(2024, 1, 1)


class Point(NamedTuple):
    x: int
    corner: Corner = Corner.LOW


def test_dataclasses_typed_dicts_and_named_tuples_are_tools():
    place = "{city!: str, zone: int? in [1, 2] = null # The zone.}"
    leg = '{day!: str, unit: str in ["c", "f"]}'
    keys = f"to!: {place}, leg!: {leg}, via: list[{place}] = [] # Places between., on: str? = null"
    assert tool_text(only([Route])) == f'Route({keys}, label: str = "x") -> Plans a route.'
    assert tool_text(only([Leg])) == 'Leg(day!: str, unit: str in ["c", "f"]) -> A leg.'
    assert tool_text(only([Point])) == 'Point(x!: int, corner: list | str in [[0, 0], "2024-01-01"])'
    assert [tool.source.form for tool in extract([Route, Leg, Place]).tools] == ["Python class"] * 2 + [
        "pydantic model"
    ]
    day = value_grammar(only([Leg]).parameter("day"), "json")
    assert day.complete('"2024-02-29"') and not day.complete('"2023-02-29"')


def test_hints_that_pydantic_reads_in_part_are_documented():
    def f(legs: list[Leg], route: Route, corners: Collection[Corner], free: typing.Collection): ...

    assert list(map(key_text, only([f]).parameters))[::2] == [
        'legs!: list[{day!: str, unit: str in ["c", "f"]}]', 'corners!: list[list | str in [[0, 0], "2024-01-01"]]',
    ]  # fmt: skip
    route, free = only([f]).parameters[1::2]
    assert key_text(free) == "free!: list" and "leg" in key_text(route) and not only([f]).notes


DATA = {"name": "data", "description": "d", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}


ServerTool = create_model("ServerTool", name=str, description=str, inputSchema=dict[str, Any])
ServerTools = create_model("ServerTools", tools=list[ServerTool])


class AgentTool:
    name, description = "agent", "Searches."

    def __init__(self) -> None:
        self.inputs = {"q": {"type": "string", "description": "d"}}

    def __call__(self, *args: Any, sanitize: bool = False) -> None: ...


class ChainTool:
    name, description, args_schema = "chain", "Asks.", Place


SERVED = ServerTool(name="served", description="d", inputSchema=DATA["parameters"])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (add, {"add": ["a", "b", "c"]}),
        (Place, {"Place": ["city", "zone"]}),
        (SERVED, {"served": ["x"]}),
        (ServerTools(tools=[SERVED]), {"served": ["x"]}),
        ([DATA, add, SERVED], {"data": ["x"], "add": ["a", "b", "c"], "served": ["x"]}),
        ({"tools": [add, DATA]}, {"add": ["a", "b", "c"], "data": ["x"]}),
        ([DATA, [add]], {"data": ["x"], "add": ["a", "b", "c"]}),
        ({"any": add}, {"add": ["a", "b", "c"]}),
        ([AgentTool(), ChainTool()], {"agent": ["q"], "chain": ["city", "zone"]}),
        ([DATA, "def g(y: int): ..."], {"data": ["x"], "g": ["y"]}),
        ([extract(DATA)["data"]], {"data": ["x"]}),
    ],
)  # fmt: skip
def test_live_objects_anywhere(source: Any, expected: dict[str, list[str]]) -> None:
    tools = extract(source, origin="here")
    assert {t.name: [p.name for p in t.parameters] for t in tools.tools} == expected
    assert list(tools) == list(expected)
    assert all(t.source and t.source.origin.startswith(("here", "<text>")) for t in tools.tools)


Code = Annotated[str, Field(pattern="^[A-Z]{2}$")]


class Seat(BaseModel):
    row: int = Field(ge=1, le=8)
    code: Code


# fmt: off
def book(
    n: Annotated[int, Field(ge=1, le=8)], day: date, codes: set[Code], seat: Seat,
    ratio: float = Field(0.5, gt=0, lt=1), unit: Unit = Unit.C, short: Annotated[str, Field(max_length=2)] = "a",
):
    """Books.

    Args:
        short: A size. (choices: ["abc", "s"])
    """


# fmt: on
@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("n", [1, 8], [0, 9, "1"]),
        ("day", ["2024-02-29"], ["2023-02-29", "today"]),
        ("codes", [["AB", "CD"]], [["AB", "AB"], ["ab"]]),
        ("seat", [{"row": 8, "code": "AB"}], [{"row": 9, "code": "AB"}, {"row": 1, "code": "A"}]),
        ("ratio", [0.25], [0, 1]),
        ("unit", ["c"], ["k"]),
        ("short", ["abc", "a"], ["b"]),  # the docstring lists its members; a default is always allowed
    ],
)
def test_limits_of_a_function_hold_for_values(key, good, bad):
    spec = only([book]).parameter(key)
    grammar = value_grammar(spec, "python")
    for value in good:
        assert grammar.complete(render_value(value, "python")) and check_value(value, spec) == value
    for value in bad:
        assert not grammar.complete(render_value(value, "python"))
        assert not accepts(spec, value)


def test_an_empty_list_is_a_list_where_the_default_is_an_empty_tuple():
    def f(listed: list[str] = (), paired: tuple[str, ...] = (), free=()): ...

    values = [read_value("[]", parameter, "json") for parameter in only([f]).parameters]
    assert values == [[], (), ()]
