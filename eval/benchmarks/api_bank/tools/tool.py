"""What a rule for one of API-Bank's tools is made of: executing a call on the replayed database, and checking it."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from eval.benchmarks.api_bank.tools.database import Replay

Arguments = Mapping[str, Any]
"""Key -> value of a call, after the tool manager's conversion: texts, and int and bool where the tool declares them."""

DATE: Final = "%Y-%m-%d"
TIME: Final = "%Y-%m-%d %H:%M:%S"


class ToolFailure(Exception):
    """The call raises inside the tool, which the official evaluator reports as HAS_EXCEPTION."""


class Unrecorded:
    """An output that no recording shows; it equals no recorded one."""

    def __repr__(self) -> str:
        return "an output that is not recorded"


UNRECORDED: Final = Unrecorded()


@dataclass(frozen=True)
class Response:
    """What a tool gives back: its input (None for GetToday), its output, and the exception's text or None."""

    input: Mapping[str, Any] | None
    output: Any
    exception: str | None

    @property
    def given(self) -> Mapping[str, Any]:
        """The input, which a checker subscripts."""
        if self.input is None:
            raise TypeError("there is no input")
        return self.input


Run = Callable[[Arguments, Replay], Any]
Check = Callable[[Response, Response], bool]


@dataclass(frozen=True)
class Tool:
    """The rule for one tool.

    Attributes
    ----------
    name : str
    required : tuple of str
        Keys without which the call is MISS_INPUT_ARGUMENT.
    run : callable
        The output of a call on the database; raises ToolFailure.
    check : callable
        Whether a response (first) is right by the recorded one. KeyError is KEY_ERROR, other errors end the official
        run.
    optional : tuple of str
        Keys that may be left out.
    filled : bool
        Whether the input lists optional keys that were left out, as None.
    integers, booleans : tuple of str
        Keys whose text the tool manager converts. It leaves lists as texts.
    """

    name: str
    required: tuple[str, ...]
    run: Run
    check: Check
    optional: tuple[str, ...] = ()
    filled: bool = False
    integers: tuple[str, ...] = ()
    booleans: tuple[str, ...] = ()


def same_result(response: Response, truth: Response) -> bool:
    """Same output, same exception."""
    return bool(response.output == truth.output) and response.exception == truth.exception


def same_call(response: Response, truth: Response) -> bool:
    """Same input, output and exception."""
    return response.input == truth.input and same_result(response, truth)


def same_exception(response: Response, truth: Response) -> bool:
    """Same exception, whatever the output."""
    return response.exception == truth.exception


def compare(result: Check = same_result, **normal_forms: Callable[[Any], Any]) -> Check:
    """A checker: the keys named equal in their normal forms, and the result as ``result`` says."""

    def check(response: Response, truth: Response) -> bool:
        pairs = [(form(response.given[k]), form(truth.given[k])) for k, form in normal_forms.items()]
        return all(one == other for one, other in pairs) and result(response, truth)

    return check


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


def normal_time(form: str) -> Callable[[str], Hashable]:
    """The normal form of times: the point in time; a text that gives none equals nothing."""

    def normal(text: str) -> Hashable:
        try:
            return padded_time(text, form)
        except ToolFailure:
            return object()

    return normal


normal_day: Final = normal_time(DATE)
normal_second: Final = normal_time(TIME)


def word_overlap(value: str, other: str) -> float:
    """Share of the words, parted by single spaces, that two texts have in common (Jaccard index of their sets)."""
    one, two = set(value.split(" ")), set(other.split(" "))
    return len(one & two) / len(one | two)
