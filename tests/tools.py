"""Tools and prompts for tests."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lookup.dictionary import LookupDictionary, ParameterSpec, ToolSpec, ValueType
from tooldecoding.result import DecodeResult
from voting import CandidateCall, CandidateValue, TypeCheckError, VotedCall, check_value, merge


def parameter(
    name: str, kind: Any, required: bool = True, enum: tuple[Any, ...] | None = None, items: Any = None
) -> ParameterSpec:
    """A parameter of a normalised type."""
    return ParameterSpec(name, ValueType(kind, ValueType(items) if items else None), kind, required, enum=enum)


def tool(name: str, *parameters: ParameterSpec) -> ToolSpec:
    """A tool."""
    return ToolSpec(name, "", parameters)


def documented(name: str, required: Sequence[str] | None = None, description: str = "", **keys: Any) -> dict[str, Any]:
    """Documentation of a tool, key -> schema; all keys are required unless said otherwise."""
    schema = {"type": "object", "properties": keys, "required": list(keys if required is None else required)}
    return {"name": name, "description": description, "parameters": schema}


def sound(result: DecodeResult) -> bool:
    """Whether all calls are valid, or the last one alone is not, because of cut values, and the answer says so."""
    if result.valid:
        return not any(call.cut for call in result.calls)
    *made, last = result.calls
    told = all(any(repr(key) in error for error in result.errors) for key in last.voted.cut)
    others = [error for error in last.voted.errors if not any(repr(key) in error for key in last.voted.cut)]
    return last.cut and result.cut and told and not others and all(call.voted.valid for call in made)


def accepts(spec: ParameterSpec, value: Any) -> bool:
    """Whether a value passes the check of the vote."""
    try:
        check_value(value, spec)
    except TypeCheckError:
        return False
    return True


def called(tool: ToolSpec, arguments: dict[str, Any]) -> VotedCall:
    """The vote on one candidate."""
    values = tuple(CandidateValue(key, value, repr(value), 0.0) for key, value in arguments.items())
    return merge([CandidateCall(tool.name, tuple(arguments), values)], tool)


def lookup(*tools: ToolSpec) -> LookupDictionary:
    """A lookup dictionary."""
    return LookupDictionary(tools)


def in_order(spec: ToolSpec, order: Sequence[str]) -> LookupDictionary:
    """The tool with its required keys documented in this order."""
    return lookup(replace(spec, parameters=(*map(spec.parameter, order), *spec.optional)))


WEATHER = tool(
    "GetWeather",
    parameter("city", "str"),
    parameter("days", "int"),
    parameter("unit", "str", enum=("celsius", "fahrenheit")),
    parameter("price", "float"),
    parameter("tags", "list", required=False, items="str"),
    parameter("hourly", "bool", required=False),
)
"""Four required keys (24 orders) and two optional ones."""

PROMPTS = [
    "User: hello\nAPI-Request: ",
    "User: what's the weather like in San Francisco tomorrow, for 5 days?\nAI: ok\nAPI-Request:",
    "x",
]
"""Three prompts of different length."""
