"""Tools in any shape -> their documentation; what stands beside them: the choice of a tool, and a file of messages."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

from lookup import LookupDictionary, extract
from lookup.extract import OnDuplicate
from tooldecoding.chat.documentation import Documentation, json_schema, tool_name
from tooldecoding.chat.messages import Conversation, read_messages
from tooldecoding.errors import ChatWarning, PromptError
from tooldecoding.files.json_lines import read_value
from tooldecoding.options import TOOL_CHOICES

NO_TOOLS: Final = Documentation([], LookupDictionary(()))
_KEYS: Final = ("messages", "tools", "tool_choice")


def read_tools(tools: Any, origin: str = "tools", on_duplicate: OnDuplicate = "error") -> Documentation:
    """Return the documentation of tools; ``NO_TOOLS`` for None and an empty list.

    DocumentationError if something is no documentation of a tool, or two tools have the same name.

    Parameters
    ----------
    tools : Any
        Documentation text, a function, a dataclass, ``TypedDict`` or pydantic model, a tool in OpenAI's or MCP's shape,
        a list of these, MCP's ``{"tools": […]}``, or a lookup dictionary.
    """
    if tools is None:
        return NO_TOOLS
    if isinstance(tools, LookupDictionary):
        return Documentation([json_schema(tool) for tool in tools.tools], tools)
    if isinstance(tools, Mapping) and isinstance(tools.get("tools"), list):
        tools = tools["tools"]
    if not isinstance(tools, str | Sequence):
        tools = [tools]
    if not isinstance(tools, str) and not tools:
        return NO_TOOLS
    tools = tools if isinstance(tools, str) else [*map(_without_nulls, tools)]
    documentation = Documentation.read(tools, origin, on_duplicate)
    for number, entry in enumerate(() if isinstance(tools, str) else tools):
        if not isinstance(entry, Mapping) or tool_name(entry) not in documentation.lookup:
            extract([entry], origin=f"{origin}[{number}]")  # such as a tool that only OpenAI's servers have
    for unread in documentation.lookup.unread:
        warnings.warn(f"what looks like a tool was not read: {unread}", ChatWarning, stacklevel=2)
    return documentation


def _without_nulls(entry: Any) -> Any:
    """Return a tool in OpenAI's shape without the fields that are null, which clients send for what they do not say."""
    match entry:
        case {"type": "function", "function": {"name": _, **said}} if None in said.values():
            kept = {key: value for key, value in entry["function"].items() if value is not None}
            return {**entry, "function": kept}
        case _:
            return entry


def read_tool_choice(given: Any, origin: str = "tool_choice") -> str:
    """Return the option ``tool_choice`` for OpenAI's: a text, or an object that names a function.

    PromptError for anything else.
    """
    if isinstance(given, str):
        return given
    function = given.get("function", given) if isinstance(given, Mapping) and given.get("type") == "function" else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str) or name in TOOL_CHOICES:
        raise PromptError(
            f"{origin}: expected {', '.join(TOOL_CHOICES)}, the name of a tool or "
            f'{{"type": "function", "function": {{"name": …}}}}, found {given!r:.80}'
        )
    return name


def read_messages_file(
    text: str, origin: str, on_duplicate: OnDuplicate = "error"
) -> tuple[Conversation, Documentation | None, str | None]:
    """Read ``[…messages]`` or ``{"messages": […], "tools": […], "tool_choice": …}``; None for what it does not say.

    ToolDecodingError, with ``origin``, for malformed JSON, anything else in the file, and as ``read_messages`` and
    ``read_tools``.
    """
    data = read_value(text, 1, origin, PromptError)
    if isinstance(data, list):
        data = {"messages": data}
    if not isinstance(data, Mapping) or "messages" not in data:
        found = f"only {', '.join(map(repr, [*data][:8]))}" if isinstance(data, Mapping) else type(data).__name__
        raise PromptError(f"{origin}: expected a list of messages or an object with 'messages', found {found}")
    if unknown := [key for key in data if key not in _KEYS]:
        raise PromptError(f"{origin}: unknown key {unknown[0]!r:.60}; known: {', '.join(_KEYS)}; options stand beside")
    tools, choice = data.get("tools"), data.get("tool_choice")
    return (
        read_messages(data["messages"], f"{origin}: messages"),
        None if tools is None else read_tools(tools, f"{origin}: tools", on_duplicate),
        None if choice is None else read_tool_choice(choice, f"{origin}: tool_choice"),
    )
