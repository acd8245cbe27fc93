"""The verdict of API-Bank's evaluator on one output, without running API-Bank's code.

Source: ``evaluator_by_json.py``, ``tool_manager.py`` and the tools of AlibabaResearch/DAMO-ConvAI, api-bank. Each tool
has its rule in ``people``, ``schedule`` or ``lookups``: what the call does on the database as the recorded dialogues
show it, and what the tool's own ``check_api_call_correctness`` compares.

The official reader of calls (``api_call_extraction.py``) is two regular expressions that take quadratic time on hostile
text. The functions here give the same results in linear time; ``tests/eval/test_api_bank.py`` compares them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from eval.benchmarks.api_bank import lookups, people, schedule
from eval.benchmarks.api_bank.rule import ApiCall, Database, Dialogue, Execution, Tool, ToolFailure
from eval.benchmarks.samples import Fault, Judgement
from tooldecoding.files.json_lines import short_repr
from tooldecoding.formats.call_format import Call

TOOLS: Final[Mapping[str, Tool]] = {tool.name: tool for group in (people, schedule, lookups) for tool in group.TOOLS}
"""Name -> rule, for every tool of API-Bank."""

_POSITIONAL: Final = ("self", "tool_name")
"""Names of the tool manager's own parameters: a key of that name is a TypeError of Python."""

_OPENING: Final = re.compile(r"\[(\w++)\(")
_KEY: Final = re.compile(r"\b(\w++)\s*+=\s*+")
_WORD: Final = re.compile(r"\w++")
_QUOTE: Final = re.compile(r"['\"]")


class CallText(NamedTuple):
    """A call as it stands in an output: the name, and the text between its outer brackets."""

    name: str
    arguments: str


def get_api_call(output: str) -> CallText | None:
    """The call in a model's output, None where the evaluator finds none.

    It is the first ``[Name(`` of a line that has a ``)]`` behind it; the arguments reach to the last ``)]`` of the
    line. ``Name(…)``, ``[ Name(…)]``, ``[Name (…)]``, ``[a.Name(…)]`` and a call over several lines are none.
    """
    for line in output.split("\n"):
        opening = _OPENING.search(line)
        end = line.rfind(")]")
        if opening and opening.end() <= end:
            return CallText(opening[1], line[opening.end() : end])
    return None


def parse_arguments(arguments: str) -> dict[str, str]:
    """Key -> value; every value is a text.

    A quoted value ends at the next quote of either kind that leaves it one character at least, an unquoted list at the
    last ``]`` of all arguments, anything else is one word. What does not read so is skipped. The last of a key's values
    holds.
    """
    found: dict[str, str] = {}
    last_bracket = arguments.rfind("]")
    position = 0
    while key := _KEY.search(arguments, position):
        start = key.end()
        value, position = _read_value(arguments, start, last_bracket) or (None, key.end(1))
        if value is not None:
            found[key[1]] = value
    return found


def _read_value(text: str, start: int, last_bracket: int) -> tuple[str, int] | None:
    """The value that begins at ``start``, and where the reader goes on."""
    first = text[start : start + 1]
    if first in ("'", '"'):
        closing = _QUOTE.search(text, start + 2)
        return (text[start + 1 : closing.start()], closing.end()) if closing else None
    if first == "[":
        return (text[start : last_bracket + 1], last_bracket + 1) if last_bracket > start else None
    word = _WORD.match(text, start)
    return (word[0], word.end()) if word else None


class _Rejected(Exception):
    """The tool manager does not execute the call: the evaluator's word for it, and why."""


def replay_database(dialogues: Sequence[Dialogue], descriptions: Mapping[str, Mapping[str, Any]]) -> Database:
    """What dialogues show of the database that every sample starts from."""
    database = Database(descriptions)
    for group in (people, schedule, lookups):
        group.learn(dialogues, database)
    database.learn_recorded(TOOLS, dialogues)
    return database


def check_output(output: str, truth: ApiCall, database: Database, repeated: bool) -> Judgement:
    """Judge a model's output.

    Parameters
    ----------
    truth : ApiCall
        The call that stands in the dialogue.
    repeated : bool
        Whether the official evaluator has checked this turn before, with the same recorded call.

    Returns
    -------
    Judgement
        ``error_type`` is a word of ``evaluator_by_json.py``; ``CRASH:`` and the error's type where its run would end.
    """
    text = get_api_call(output)
    if text is None:
        return Judgement(False, "NO_API_CALL", "expected [Name(key='value')] on one line, found no such call", None)
    call = Call(text.name, parse_arguments(text.arguments))
    if call.name != truth.name:
        message = f"expected a call of {truth.name}, found {short_repr(call.name)}"
        return Judgement(False, "API_NAME_MISMATCH", message, (call,))
    tool = TOOLS[truth.name]
    try:
        made = _execute(tool, call, truth, database)
    except _Rejected as rejected:
        return Judgement.of(Fault(*rejected.args), [call])
    if repeated and truth.name in schedule.SHARING_TRUTH:  # an earlier check of the same turn leaves it so
        truth = replace(truth, input={k: v for k, v in truth.input.items() if k != "meeting_topic"})
    return Judgement.of(_compare(tool, made, truth), [call])


def _execute(tool: Tool, call: Call, truth: ApiCall, database: Database) -> ApiCall:
    given = _convert(tool, call.arguments)
    missing = [key for key in tool.keys if key not in given]
    if missing:
        raise _Rejected("MISS_INPUT_ARGUMENT", f"{tool.name} needs {', '.join(missing)}")
    if tool.filled:
        given = dict.fromkeys(tool.optional) | given
    try:
        output, exception = tool.run(Execution(tool, given, truth, database)), None
    except ToolFailure as failure:
        output, exception = None, str(failure)
    return ApiCall(tool.name, call.arguments, given, output, exception)


def _convert(tool: Tool, arguments: Mapping[str, str]) -> dict[str, Any]:
    """The arguments as the tool manager hands them on, checked in their sequence."""
    for key in _POSITIONAL:
        if key in arguments:
            raise _Rejected("CRASH:TypeError", f"the key {key} is taken by the tool manager itself")
    given: dict[str, Any] = {}
    for key, value in arguments.items():
        if key not in tool.keys and key not in tool.optional:
            raise _Rejected("INVALID_INPUT_PARAMETER", f"{tool.name} has no key {short_repr(key)}")
        if key in tool.integers:
            given[key] = _read_integer(key, value)
        else:
            given[key] = value == "True" if key in tool.booleans else value
    return given


def _read_integer(key: str, value: str) -> int:
    if not value.isdigit():
        raise _Rejected("CRASH:AssertionError", f"{key} must be digits only, found {short_repr(value)}")
    try:
        return int(value)
    except ValueError:  # digits of other kinds, or thousands of them
        raise _Rejected("CRASH:ValueError", f"{key} must be a whole number, found {short_repr(value)}") from None


def _compare(tool: Tool, made: ApiCall, truth: ApiCall) -> Fault | None:
    """What is wrong, in the evaluator's word; None for a right call."""
    try:
        if tool.check(tool, made, truth):
            return None
    except (KeyError, TypeError, AttributeError) as error:
        word = "KEY_ERROR" if isinstance(error, KeyError) else f"CRASH:{type(error).__name__}"
        return Fault(word, f"the official checker or evaluator stops with an error: {word.removeprefix('CRASH:')}")
    if made.exception is not None:
        return Fault("HAS_EXCEPTION", f"the call fails: {made.exception}")
    what = "output" if made.output != truth.output else "input"
    expected, found = (short_repr(getattr(call, what)) for call in (truth, made))
    return Fault(f"{what.upper()}_MISMATCH", f"expected the {what} {expected}, found {found}")
