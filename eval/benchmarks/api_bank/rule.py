"""What a rule for one of API-Bank's tools is made of: executing a call on the replayed database, and checking it.

The official evaluator gives each sample a fresh copy of API-Bank's ``init_database``. That is no part of the dialogues,
but all their calls succeeded: a call that read something shows that it was there, unless an earlier call of the same
dialogue had put it there.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

Arguments = Mapping[str, Any]
"""Key -> value of a call, after the tool manager's conversion: texts, and int and bool where the tool declares them."""

DATE: Final = "%Y-%m-%d"
TIME: Final = "%Y-%m-%d %H:%M:%S"


class ToolFailure(Exception):
    """The call raises inside the tool, which the official evaluator reports as HAS_EXCEPTION."""


def demand(holds: object, message: str) -> None:
    """ToolFailure unless something holds."""
    if not holds:
        raise ToolFailure(message)


class Unrecorded:
    """An output that no recording shows; it equals no recorded one."""

    def __repr__(self) -> str:
        return "an output that is not recorded"


UNRECORDED: Final = Unrecorded()


@dataclass(frozen=True)
class ApiCall:
    """A call with what it gave back.

    Attributes
    ----------
    arguments : mapping
        As they were written.
    input : mapping
        As the tool received them.
    output : JSON value
    exception : str or None
    """

    name: str
    arguments: Mapping[str, Any]
    input: Arguments
    output: Any
    exception: str | None

    def text(self, key: str) -> str:
        """An argument that is a text; empty where there is none."""
        value = self.input.get(key)
        return value if isinstance(value, str) else ""


Dialogue = tuple[ApiCall, ...]
"""The recorded calls of one dialogue, in their sequence."""


@dataclass
class Database:
    """What is known of the fresh database.

    Attributes
    ----------
    descriptions : mapping
        Tool -> its documentation as the code has it; ToolSearcher returns it.
    users, tokens, passwords, emails
        Names of users; token -> user, the token itself where no recording names its user; user -> the others.
    rows : dict
        ``Agenda``, ``Reminder``, ``Meeting``, ``Alarm`` -> rows with ``username`` and the keys of the tools.
    appointments : dict
        Id -> ``patient_name``, ``date``, ``doctor_name``, as far as they are known.
    health : dict
        User id -> records with their ``time``.
    recorded : dict
        Table -> what its rows are found by -> tool -> recorded output.
    orders : list
        The numbers of hotel orders that were the first of their dialogue.
    """

    descriptions: Mapping[str, Mapping[str, Any]]
    users: set[str] = field(default_factory=set)
    tokens: dict[str, str] = field(default_factory=dict)
    passwords: dict[str, str] = field(default_factory=dict)
    emails: dict[str, str] = field(default_factory=dict)
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    appointments: dict[str, dict[str, str]] = field(default_factory=dict)
    health: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    recorded: dict[str, dict[Hashable, dict[str, Any]]] = field(default_factory=dict)
    orders: list[Any] = field(default_factory=list)

    def owner(self, arguments: Arguments) -> str:
        """The user of a call's token; ToolFailure for one that no recording shows as valid in the fresh database."""
        demand(arguments["token"] in self.tokens, "the token is invalid")
        return self.tokens[arguments["token"]]

    def learn_recorded(self, tools: Mapping[str, "Tool"], dialogues: Sequence[Dialogue]) -> None:
        """Keep what recorded calls found, unless an earlier call of the dialogue had put it there. The first holds."""
        for dialogue in dialogues:
            made = set()
            for call in dialogue:
                tool = tools[call.name]
                place = tool.place(call.input, self)
                if tool.makes:
                    made.add((tool.table, place))
                elif place is not None and (tool.table, place) not in made:
                    found = self.recorded.setdefault(tool.table or tool.name, {})
                    found.setdefault(place, {}).setdefault(tool.name, call.output)


@dataclass(frozen=True)
class Execution:
    """One prediction in its tool: what it gives, the sample's own recorded call, and the fresh database."""

    tool: "Tool"
    given: Arguments
    truth: ApiCall
    database: Database

    def text(self, key: str) -> str:
        """A text without white space around it."""
        return str(self.given[key]).strip()

    def recorded(self, unknown: Unrecorded | None = None) -> Any:
        """The recorded output, the sample's own first; ``unknown`` or ToolFailure for what no recording knows."""
        tool, database = self.tool, self.database
        place = tool.find(self.given, database) if tool.find else None
        outputs = database.recorded.get(tool.table or tool.name, {}).get(place)
        if outputs is None:
            demand(unknown, "this is not known")
            return unknown
        own = tool.place(self.truth.input, database) == place
        return self.truth.output if own else outputs.get(tool.name, UNRECORDED)


Form = Callable[[Any], Hashable]
"""Makes values alike that the tool's checker takes for equal."""

ToolFunction = Callable[[Execution], Any]
Check = Callable[["Tool", ApiCall, ApiCall], bool]
"""Whether a call (first) is right by the recorded one. KeyError is KEY_ERROR, other errors end the official run."""

Find = Callable[[Arguments, Database], Hashable]


def compared(tool: "Tool", call: ApiCall, truth: ApiCall) -> bool:
    """Keys equal in their normal forms, same output and exception."""
    return same_keys(tool, call, truth) and same_result(tool, call, truth)


def same_keys(tool: "Tool", call: ApiCall, truth: ApiCall) -> bool:
    """Keys equal in their normal forms."""
    forms = {key: form for key, form in {**tool.keys, **tool.optional}.items() if form}
    pairs = [(form(call.input[key]), form(truth.input[key])) for key, form in forms.items()]
    return all(one == other for one, other in pairs)


def same_result(tool: "Tool", call: ApiCall, truth: ApiCall) -> bool:
    """Same output, same exception."""
    return bool(call.output == truth.output) and call.exception == truth.exception


def same_call(tool: "Tool", call: ApiCall, truth: ApiCall) -> bool:
    """Same input, output and exception."""
    return call.input == truth.input and same_result(tool, call, truth)


@dataclass(frozen=True)
class Tool:
    """The rule for one tool.

    Attributes
    ----------
    keys : mapping
        Key without which the call is MISS_INPUT_ARGUMENT -> its form for ``compared``, None if it is not compared.
    run : callable
        The output of a call on the database; raises ToolFailure.
    optional : mapping
        The same for keys that may be left out.
    filled : bool
        Whether the input lists optional keys that were left out, as None.
    integers, booleans : tuple of str
        Keys whose text the tool manager converts. It leaves lists as texts.
    table, find
        Where recordings are kept (by default under the tool's name), and by what a call finds its own there
        (ToolFailure if it cannot).
    makes : bool
        Whether the call puts its row there: a later call of the dialogue shows nothing of the fresh database.
    """

    name: str
    keys: Mapping[str, Form | None]
    run: ToolFunction
    check: Check = compared
    optional: Mapping[str, Form | None] = field(default_factory=dict)
    filled: bool = False
    integers: tuple[str, ...] = ()
    booleans: tuple[str, ...] = ()
    table: str = ""
    find: Find | None = None
    makes: bool = False

    def place(self, arguments: Arguments, database: Database) -> Hashable:
        """By what a recording is found; None for a tool without one, and where its rule cannot read a value."""
        try:
            return self.find(arguments, database) if self.find else None
        except (ToolFailure, KeyError, AttributeError):
            return None


def same(value: Any) -> Any:
    """The value itself."""
    return value


def stripped(value: str) -> str:
    """Without white space around."""
    return value.strip()


def lowered(value: str) -> str:
    """Without white space around, in lower case."""
    return value.strip().lower()


def uppered(value: str) -> str:
    """Without white space around, in upper case."""
    return value.upper().strip()


def read_time(text: str, form: str) -> datetime:
    """The point in time that a text gives in exactly this form; ToolFailure for any other."""
    try:
        return datetime.strptime(text, form)
    except ValueError as error:
        raise ToolFailure(f"{text[:40]!r} is no time of the form {form}") from error


def padded_time(text: str, form: str) -> datetime:
    """As ``read_time``, but for white space around and a year of less than four digits."""
    year, *rest = text.strip().split("-")
    return read_time("-".join([year if len(rest) != 2 else year.zfill(4), *rest]), form)


def readable(read: Callable[[str], Hashable]) -> Form:
    """The form of texts that can be read; one that cannot equals nothing."""

    def form(text: str) -> Hashable:
        try:
            return read(text)
        except ToolFailure:
            return object()

    return form


normal_day: Final = readable(lambda text: padded_time(text, DATE))
normal_second: Final = readable(lambda text: padded_time(text, TIME))


def nullable(form: Form) -> Form:
    """The form of a key that may be left out."""
    return lambda value: None if value is None else form(value)
