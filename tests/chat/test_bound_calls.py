"""Functions and classes get the arguments of a call in the types of their hints, and what they return is shown."""

import asyncio
import typing
from collections.abc import Callable, Collection, Iterable
from dataclasses import InitVar, dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, TypeVar
from uuid import UUID

import pydantic
import pytest
import typing_extensions
from chat_models import HERMES, call, decoder_of, says
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, NaiveDatetime

from lookup import ToolDecodingError, extract
from lookup.documents.structured import read
from lookup.grammar.literal_values import render_value
from lookup.grammar.value_grammar import value_grammar
from tooldecoding.agents.agent import Agent, Event
from tooldecoding.decoding.bound_call import bind
from tooldecoding.decoding.decoded_call import DecodedCall
from tooldecoding.testing import SyntheticDecoder


@pytest.fixture
def decoder() -> SyntheticDecoder:
    return decoder_of(HERMES, max_value_tokens=60)


class Unit(Enum):
    C = "celsius"
    F = "fahrenheit"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Corner(Enum):
    ORIGIN = (0, 0)
    NEW_YEAR = date(2024, 1, 1)
    NONE = None


@dataclass
class Item:
    """A thing.

    Attributes:
        name: What it is called.
    """

    name: str
    price: Decimal = Decimal("1.5")
    day: date | None = None
    tags: set[str] = field(default_factory=set)


class Spot(typing.TypedDict):
    """A place."""

    x: int
    day: typing.NotRequired[date]


class Tree(typing.TypedDict):
    """Holds trees."""

    day: date
    trees: "typing.NotRequired[list[Tree]]"


class Pair(NamedTuple):
    x: int
    unit: Unit = Unit.C


class Line(NamedTuple):
    start: Corner
    day: date | None = None


Start = NewType("Start", Corner)
Corners = typing_extensions.TypeAliasType("Corners", "list[Corner] | dict[str, Corners]")


class Place(BaseModel):
    """A place in words."""

    city: str
    since: date | None = None


@dataclass
class Nested:
    spot: Spot
    corner: Corner
    items: list[Item] = field(default_factory=list)


class Chain(typing_extensions.TypedDict):
    corner: Corner
    rest: "typing_extensions.NotRequired[list[Spot]]"


class Alike(BaseModel):
    when: Annotated[datetime, BeforeValidator(lambda text: text.strip().replace(" ", "T"))]
    number: Annotated[int, AfterValidator(lambda number: number + 1)] = 0


class Opaque:
    """Nothing that pydantic knows."""


ID = "12345678-1234-5678-1234-567812345678"

VALUES: list[tuple[Any, Any, Any]] = [
    (str, "5", "5"),
    (int, 5, 5),
    (float, 5, 5.0),
    (Unit, "celsius", Unit.C),
    (Level, 2, Level.HIGH),
    (Corner, [0, 0], Corner.ORIGIN),
    (Corner, "2024-01-01", Corner.NEW_YEAR),
    (Corner, None, Corner.NONE),
    (Literal["a", 1, Unit.F], "fahrenheit", Unit.F),
    (Literal["celsius", Unit.C], "celsius", "celsius"),
    (date, "2024-02-29", date(2024, 2, 29)),
    (datetime, "2024-02-29T10:00:00Z", datetime(2024, 2, 29, 10, tzinfo=UTC)),
    (time, "10:00:00Z", time(10, tzinfo=UTC)),
    (timedelta, "PT1H", timedelta(hours=1)),
    (UUID, ID, UUID(ID)),
    (Path, "/a/b", Path("/a/b")),
    (Decimal, "1.50", Decimal("1.50")),
    (Decimal, 2, Decimal(2)),
    (bytes, "é", "é".encode()),
    (set[date], ["2024-02-29"], {date(2024, 2, 29)}),
    (frozenset[int], [1], frozenset({1})),
    (tuple[int, Unit], [1, "celsius"], (1, Unit.C)),
    (tuple[date, ...], ["2024-02-29"], (date(2024, 2, 29),)),
    (dict[str, Item], {"a": {"name": "b"}}, {"a": Item("b")}),
    (dict[int, date], {"1": "2024-02-29"}, {1: date(2024, 2, 29)}),
    (Iterable[Unit], ["celsius"], [Unit.C]),
    (Collection, [1], [1]),
    (Item, {"name": "a", "price": "2", "tags": ["b"]}, Item("a", Decimal(2), None, {"b"})),
    (list[Item], [{"name": "a", "day": "2024-02-29"}], [Item("a", day=date(2024, 2, 29))]),
    (Optional[Item], None, None),  # noqa: UP045
    (Item | str, "a", "a"),
    (str | date, "2024-02-29", "2024-02-29"),
    (date | None, "2024-02-29", date(2024, 2, 29)),
    (Spot, {"x": 1, "day": "2024-02-29"}, {"x": 1, "day": date(2024, 2, 29)}),
    (list[Spot] | None, [{"x": 1}], [{"x": 1}]),
    (Tree, {"day": "2024-02-29", "trees": [{"day": "2024-02-29"}]},
     {"day": date(2024, 2, 29), "trees": [{"day": date(2024, 2, 29)}]}),
    (Chain, {"corner": [0, 0], "rest": [{"x": 1}]}, {"corner": Corner.ORIGIN, "rest": [{"x": 1}]}),
    (Nested, {"spot": {"x": 1}, "corner": [0, 0]}, Nested({"x": 1}, Corner.ORIGIN)),
    (Pair, [1, "fahrenheit"], Pair(1, Unit.F)),
    (Line, [[0, 0]], Line(Corner.ORIGIN)),
    (Line, [[0, 0], "2024-02-29"], Line(Corner.ORIGIN, date(2024, 2, 29))),
    (list[Start], [[0, 0]], [Corner.ORIGIN]),
    (Corners, [[0, 0]], [Corner.ORIGIN]),
    (Place, {"city": "Rome", "since": "2024-02-29"}, Place(city="Rome", since=date(2024, 2, 29))),
    (Alike, {"when": "2024-02-29T10:00:00Z"}, Alike(when="2024-02-29 10:00:00Z")),
    (Annotated[int, Field(ge=3)], 3, 3),
    (NaiveDatetime, "2024-02-29T10:00:00.5", datetime(2024, 2, 29, 10, 0, 0, 500_000)),
    (Any, {"a": (1,)}, {"a": (1,)}),
    (Opaque, 3, 3),
    ("Nowhere", 3, 3),
]  # fmt: skip
"""Hints, values as JSON has them, and what a function gets."""


def taking(hint: Any, **default: Any) -> Callable[..., Any]:
    def take(x, **others): ...

    take.__annotations__ = {"x": hint}
    take.__defaults__ = tuple(default.values())
    return take


@pytest.mark.parametrize(("hint", "value", "given"), VALUES, ids=repr)
def test_a_value_that_is_documented_arrives_in_the_type_of_its_hint(hint, value, given):
    [[tool], _] = read(taking(hint), "here")
    assert value_grammar(tool.parameters[0], "json").complete(render_value(value, "json"))
    [found] = bind(taking(hint), {"x": value}).args
    assert found == given and type(found) is type(given)


@pytest.mark.parametrize(
    ("hint", "value", "said"),
    [
        (Unit, "kelvin", "'celsius' or 'fahrenheit', found the text 'kelvin'"),
        (Level, "1", "found the text '1'"),
        (date, "2023-02-29", "valid date"),
        (int, "5", "valid integer, found the text '5'"),
        (int, True, "valid integer, found True"),
        (bool, "yes", "valid boolean"),
        (bool, 1, "valid boolean"),
        (date, 0, "found int 0"),
        (Annotated[int, Field(ge=3)], 2, "greater than or equal to 3"),
        (list[Item], [{"name": "a"}, {"price": "1"}], "[1]['name']: Field required"),
        (Line, [[0, 1]], "should be (0, 0)"),
        (Line, [[0, 0], "2024-02-29", 1], "at most 2 items"),
        (Spot, {"x": "1"}, "['x']: Input should be a valid integer"),
        (Nested, {"spot": {"x": "1"}, "corner": [0, 0]}, "['spot']['x']"),
        (Alike, {"when": "2024-02-29 10:00:00Z", "number": "1"}, "['number']"),
        (int, {1}, "not JSON serializable"),
        (int | None, "x" * 10_000, "valid integer"),
    ],
    ids=repr,
)
def test_a_value_that_does_not_fit_is_an_error_that_names_the_key(hint, value, said):
    with pytest.raises(ToolDecodingError) as raised:
        bind(taking(hint), {"x": value})
    text = str(raised.value)
    assert "tool 'take': the argument 'x' does not fit" in text and said in text and len(text) < 1_500


def kinds(a: int, b: Unit = Unit.C, c: str = "c", /, *rest: int, d: date | None = None, **others: date) -> Any:
    """Has each kind of parameter."""
    return a, b, c, rest, d, others


NO_LIST: Any = Field(default_factory=list)


def fields(a: int = Field(3, ge=1), b: list[int] = NO_LIST, c: Annotated[int, Field(default=7)] = 8):
    """Has pydantic's defaults."""
    return a, b, c


def two_fields(a: Annotated[int, Field(ge=1), Field(default=5)], b: Annotated[int, Field(default=2)] = Field(ge=1)):
    """Has defaults beside limits."""
    return a, b


class Shop:
    def buy(self, day: date) -> Any:
        """Buys."""
        return day

    __call__ = buy

    @classmethod
    def sell(cls, day: date) -> Any:
        return day


DAY, THAT = {"day": "2024-02-29"}, date(2024, 2, 29)


@pytest.mark.parametrize(
    ("function", "arguments", "result"),
    [
        (kinds, {"a": 1, "c": "x"}, (1, Unit.C, "x", (), None, {})),
        (kinds, {"d": None, "a": 1, "e": "2024-02-29"}, (1, Unit.C, "c", (), None, {"e": THAT})),
        (kinds, {"a": 1, "rest": "2024-02-29"}, (1, Unit.C, "c", (), None, {"rest": THAT})),
        (partial(kinds, 1), {"b": "fahrenheit"}, (1, Unit.F, "c", (), None, {})),
        (partial(kinds, d=THAT), {"a": 1}, (1, Unit.C, "c", (), THAT, {})),
        (fields, {}, (3, [], 8)),
        (fields, {"a": 1, "b": [1], "c": 2}, (1, [1], 2)),
        (two_fields, {}, (5, 2)),
        (two_fields, {"a": 1, "b": 1}, (1, 1)),
        (Shop().buy, DAY, THAT),
        (Shop(), DAY, THAT),
        (Shop.sell, DAY, THAT),
        (taking(int, x=None), {"x": None}, None),
    ],
)  # fmt: skip
def test_every_kind_of_parameter_and_of_function_can_be_called(function, arguments, result):
    bound = bind(function, arguments)
    assert function(*bound.args, **bound.kwargs) == result


@pytest.mark.parametrize(
    ("function", "arguments", "said"),
    [
        (kinds, {}, "the argument 'a' is missing"),
        (fields, {"a": 0}, "greater than or equal to 1"),
        (two_fields, {"a": 0}, "greater than or equal to 1"),
        (two_fields, {"b": 0}, "greater than or equal to 1"),
        (fields, {"z": 0}, "the argument 'z' is no parameter of the function; it takes 'a', 'b', 'c'"),
        (Shop.buy, DAY, "the argument 'self' comes from no call"),
        (Opaque, {}, "found the class Opaque"),
        (3, {}, "found int 3"),
    ],
)
def test_arguments_that_a_function_does_not_take_are_errors(function, arguments, said):
    with pytest.raises(ToolDecodingError, match=said.replace("'", ".")):
        bind(function, arguments)


Thing = TypeVar("Thing")


@dataclass
class Box(Generic[Thing]):
    """Boxes things."""

    thing: Thing
    more: "list[Thing]" = field(default_factory=list)


def test_a_generic_class_with_its_types_is_a_tool():
    [spec] = extract([Box[date]]).tools
    assert (spec.name, spec.description) == ("Box", "Boxes things.")
    assert [(p.name, p.required, p.type.kind) for p in spec.parameters] == [
        ("thing", True, "str"),
        ("more", False, "list"),
    ]
    bound = bind(Box[date], {"thing": "2024-02-29", "more": ["2024-02-29"]})
    assert Box[date](*bound.args, **bound.kwargs) == Box(THAT, [THAT])
    with pytest.raises(ToolDecodingError, match="'thing' does not fit"):
        bind(Box[int], {"thing": "2024-02-29"})


@dataclass
class Order:
    """Orders a thing.

    Attributes:
        thing: What.
    """

    thing: Item
    unit: Unit = Unit.C
    days: list[date] = field(default_factory=list)
    count: int = Field(1, ge=1)
    made: int = field(init=False, default=0)
    raw: InitVar[str] = ""


class Words(typing.TypedDict, total=False):
    """Orders by words."""

    thing: typing.Required[Annotated[str, "What."]]
    day: date


Keys = typing_extensions.TypedDict("Keys", {"a-b": date, "from": typing_extensions.NotRequired[Unit]})


class Ask(BaseModel):
    """Asks."""

    day: date = Field(description="When.")
    unit: Unit = Field(Unit.C, alias="X-Unit")


@pydantic.dataclasses.dataclass
class Checked:
    """Checks."""

    day: date
    count: int = Field(1, ge=1)


THING = {"thing": {"name": "a", "price": "2"}}

CLASSES: list[tuple[Any, dict[str, Any], Any, dict[str, bool], str]] = [
    (Order, THING, Order(Item("a", Decimal(2)), count=1),
     {"thing": True, "unit": False, "days": False, "count": False, "raw": False}, "Orders a thing."),
    (Words, {"thing": "a"} | DAY, {"thing": "a", "day": THAT}, {"thing": True, "day": False}, "Orders by words."),
    (Words, {"thing": "a"}, {"thing": "a"}, {"thing": True, "day": False}, "Orders by words."),
    (Keys, {"a-b": "2024-02-29", "from": "celsius"}, {"a-b": THAT, "from": Unit.C}, {"a-b": True, "from": False}, ""),
    (Pair, {"x": 1, "unit": "fahrenheit"}, Pair(1, Unit.F), {"x": True, "unit": False}, ""),
    (Ask, {"day": "2024-02-29", "X-Unit": "fahrenheit"}, Ask(**{"day": THAT, "X-Unit": Unit.F}),
     {"day": True, "X-Unit": False}, "Asks."),
    (Alike, {"when": "2024-02-29 10:00:00Z", "number": 1}, Alike(when="2024-02-29 10:00:00Z", number=1),
     {"when": True, "number": False}, ""),
    (Checked, {"day": "2024-02-29"}, Checked(THAT), {"day": True, "count": False}, "Checks."),
]  # fmt: skip
"""Classes, the arguments of a call, what is made of them, the keys that must be given, and the description."""


@pytest.mark.parametrize(("tool", "arguments", "made", "keys", "description"), CLASSES)
def test_a_class_is_a_tool_whose_fields_are_the_parameters(tool, arguments, made, keys, description):
    [spec] = extract([tool]).tools
    assert spec.name == tool.__name__ and spec.description == description
    assert {p.name: p.required for p in spec.parameters} == keys
    bound = bind(tool, arguments)
    found = tool(*bound.args, **bound.kwargs)
    assert found == made and type(found) is type(made)


def test_a_strict_class_gets_its_types_also_where_its_objects_are_never_equal():
    class Booking(BaseModel):
        """Books."""

        model_config = ConfigDict(strict=True)
        day: date
        number: object = Field(default_factory=object)

    bound = bind(Booking, DAY)
    assert Booking(*bound.args, **bound.kwargs).day == THAT


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        (Order, {}, "'thing' is missing"),
        (Order, THING | {"count": 0}, "'count' does not fit: Input should be greater than or equal to 1"),
        (Words, {"thing": 3}, "'thing' does not fit"),
        (Words, {}, "'thing' is missing"),
        (Words, {"thing": "a", "dax": 1}, "'dax' is no parameter"),
        (Keys, {"from": "celsius"}, "'a-b' is missing"),
        (Ask, {}, "'day' is missing"),
        (Ask, {"day": "soon"}, "'day' does not fit: Input should be a valid date"),
        (Ask, {"day": "2024-02-29", "X-Unit": "k"}, "'X-Unit' does not fit"),
        (Checked, {"day": "2024-02-29", "count": 0}, "'count' does not fit"),
    ],
)
def test_a_class_is_not_made_of_what_does_not_fit(tool, arguments, said):
    with pytest.raises(ToolDecodingError, match=f"tool '{tool.__name__}': the argument {said}"):
        bind(tool, arguments)


def ran(decoder: SyntheticDecoder, tool: Any, name: str, **arguments: Any) -> Event:
    """The result of a tool that the model calls once, as the model reads it."""
    says(decoder, lambda prompt: "Done." if "[tool]" in prompt else call(name, **arguments))
    agent = Agent(decoder, [tool])
    [returned] = [event for event in agent.run("On 2024-02-29, a of 2, one of celsius.") if event.kind == "result"]
    assert agent.messages[2]["content"] == returned.content
    return returned


@pytest.mark.parametrize("tool", [Order, Words, Ask, Checked])
def test_a_call_of_a_class_is_bound_and_an_agent_makes_one(decoder, tool):
    given: dict[str, Any] = THING if tool is Order else {"thing": "a"} if tool is Words else DAY
    says(decoder, lambda prompt: call(tool.__name__, **given))
    reply = decoder.chat([{"role": "user", "content": "On 2024-02-29, a of 2."}], tools=[tool])
    [made] = reply.calls
    assert isinstance(made, DecodedCall) and made.name == tool.__name__
    bound = made.bind(tool)
    assert tool(*bound.args, **bound.kwargs) is not None
    result = ran(decoder, tool, tool.__name__, **given)
    assert (
        not result.failed
        and result.content.startswith("{")
        and ("2024-02-29" in result.content or '"a"' in result.content)
    )


async def later(day: date) -> Any:
    """Comes later."""
    await asyncio.sleep(0)
    return {"day": day, "loop": id(asyncio.get_running_loop())}


class Later:
    """Comes later."""

    async def __call__(self, day: date) -> Any:
        return await later(day)

    async def some(self, day: date) -> Any:
        yield await later(day)


def soon(day: date) -> Any:
    return later(day)


ASYNC = [
    (later, "later"),
    (partial(later), "later"),
    (Later(), "Later"),
    (partial(Later()), "Later"),
    (soon, "soon"),
    (Later().some, "some"),
]


@pytest.mark.parametrize(("function", "name"), ASYNC)
@pytest.mark.parametrize("in_loop", [False, True])
def test_what_is_async_is_awaited_in_one_loop_also_within_a_loop(decoder, function, name, in_loop):
    async def within() -> Event:
        return ran(decoder, function, name, **DAY)

    results = [asyncio.run(within()) if in_loop else ran(decoder, function, name, **DAY) for _ in range(2)]
    assert (
        not results[0].failed
        and '"day": "2024-02-29"' in results[0].content
        and results[0].content == results[1].content
    )


def test_an_async_function_may_run_an_agent_and_its_errors_and_interrupts_are_its_own(decoder):
    async def outer() -> Any:
        """Runs an agent."""
        return ran(decoder_of(HERMES, max_value_tokens=60), later, "later", **DAY).content

    async def outermost() -> Any:
        """Runs an agent whose tool runs an agent, in a thread."""
        return await asyncio.to_thread(lambda: ran(decoder_of(HERMES, max_value_tokens=60), outer, "outer").content)

    async def around() -> Any:
        """Runs an agent whose tool runs such an agent."""
        return ran(decoder_of(HERMES, max_value_tokens=60), outermost, "outermost").content

    async def broken() -> Any:
        """Fails."""
        raise OSError("no luck")

    async def interrupted() -> Any:
        """Ends the program."""
        raise KeyboardInterrupt

    for tool, name in ((outer, "outer"), (outermost, "outermost"), (around, "around")):
        assert "2024-02-29" in ran(decoder, tool, name).content
    assert ran(decoder, broken, "broken").content == "error: OSError: no luck"
    with pytest.raises(KeyboardInterrupt):
        ran(decoder, interrupted, "interrupted")
    assert "2024-02-29" in ran(decoder, later, "later", **DAY).content


class Unwritable:
    def __str__(self) -> str:
        raise ValueError


class Silent(Exception):
    def __str__(self) -> str:
        raise ValueError("no")


@pytest.mark.parametrize("kind", [Silent, type("SilentValue", (Silent, ValueError), {})])
def test_an_exception_that_cannot_say_anything_is_told_by_its_kind(decoder, kind):
    def refuse(n: Any = 0) -> Any:
        """Refuses."""
        raise kind

    def check(n: Annotated[int, AfterValidator(refuse)]) -> int:
        """Checks."""
        return n

    class Checking(BaseModel):
        """Checks."""

        n: Annotated[int, AfterValidator(refuse)]

    assert ran(decoder, refuse, "refuse", n=1).content == f"error: {kind.__name__}"
    for tool in (check, Checking):
        returned = ran(decoder, tool, tool.__name__, n=1)
        assert returned.failed and "does not fit" in returned.content


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    ("result", "content"),
    [
        ("text", "text"),
        (None, "null"),
        ({"day": THAT}, '{"day": "2024-02-29"}'),
        (THAT, "2024-02-29"),
        ({Unit.C: {Decimal("1.50")}}, '{"celsius": ["1.50"]}'),
        (Item("a", tags={"b"}), '{"name": "a", "price": "1.5", "day": null, "tags": ["b"]}'),
        (Place(city="Rome"), '{"city": "Rome", "since": null}'),
        (Pair(1), '[1, "celsius"]'),
        ([Path("/a"), UUID(ID), timedelta(1)], f'["/a", "{ID}", "P1D"]'),
        (b"abc", "abc"),
        ({"a": b"\xff"}, '{"a": "_w=="}'),
        ([float("nan"), float("-inf")], '["NaN", "-Infinity"]'),
        ({(1, 2): 3}, '{"1,2": 3}'),
        ([Shop], f'["{Shop}"]'),
        ((n for n in (1, 2)), "[1, 2]"),
        (map(str, (1, 2)), '["1", "2"]'),
        (CIRCLE, "The function ran, and its result (list) cannot be shown."),
        ({"a": Unwritable()}, "The function ran, and its result (dict) cannot be shown."),
        (10**5_000, "The function ran, and its result (int) cannot be shown."),
    ],
    ids=lambda what: type(what).__name__,
)
def test_a_function_that_ran_is_never_told_as_failed_because_of_its_result(decoder, result, content):
    times: list[int] = []

    def give() -> Any:
        """Gives something."""
        times.append(1)
        return result

    returned = ran(decoder, give, "give")
    assert (returned.content, returned.failed, times) == (content, False, [1])


def test_a_function_whose_arguments_do_not_fit_does_not_run_and_the_model_is_told(decoder):
    times: list[int] = []

    def odd(n: Annotated[int, AfterValidator(lambda n: n if n % 2 else [][1])]) -> int:
        """Wants an odd number."""
        times.append(n)
        return n

    returned = ran(decoder, odd, "odd", n=2)
    assert returned.failed and times == []
    said = "does not fit: IndexError: list index out of range; the function did not run"
    assert returned.content == f"error: tool 'odd': the argument 'n' {said}"
    assert ran(decoder, odd, "odd", n=3).content == "3" and times == [3]
