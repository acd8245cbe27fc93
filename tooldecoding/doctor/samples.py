"""Made-up tools, and calls of them that every format must write exactly."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tooldecoding.formats.call_format import Call


def _tool(name: str, **properties: Mapping[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return {"type": "function", "function": {"name": name, "description": f"Run {name}.", "parameters": schema}}


_TEXT: Final = {"type": "string", "description": "A text."}
_NUMBER: Final = {"type": "integer", "description": "A number."}

TOOLS: Final[Sequence[Mapping[str, Any]]] = (
    _tool("get_weather", city=_TEXT, days=_NUMBER),
    _tool("save_note", body=_TEXT, title=_TEXT),
    _tool("set_lamp", bright={"type": "number", "description": "From 0 to 1."}, on={"type": "boolean"}),
    _tool(
        "book_trip",
        passenger={"type": "object", "properties": {"age": _NUMBER, "name": _TEXT}, "required": ["age", "name"]},
        stops={"type": "array", "items": {"type": "string"}, "description": "Towns."},
    ),
    _tool("list_notes"),
)
"""The tools, in OpenAI's form."""

CALLS: Final[Mapping[str, Sequence[Call]]] = {
    "a text and a number": [Call("get_weather", {"city": "Paris", "days": 3})],
    "quotes": [Call("save_note", {"body": 'He said "it\'s fine" \\ twice.', "title": "O'Brien"})],
    "Unicode": [Call("save_note", {"body": "naïve 東京 🙂", "title": "Ærø"})],
    "brackets and commas": [Call("save_note", {"body": "f(x), {a: [b]} <c>; d=1", "title": "a, b"})],
    "numbers": [Call("set_lamp", {"bright": 0.25, "on": False})],
    "an object and a list": [
        Call("book_trip", {"passenger": {"age": 41, "name": "Ana"}, "stops": ["Rome", "Oslo S"]})
    ],
    "no arguments": [Call("list_notes", {})],
    "two calls": [Call("get_weather", {"city": "Rome", "days": 2}), Call("list_notes", {})],
    "the same tool twice": [
        Call("get_weather", {"city": "New York", "days": 1}), Call("get_weather", {"city": "Lima", "days": 10})
    ],
}  # fmt: skip
"""What is special about the calls -> the calls."""
