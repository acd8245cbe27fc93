"""A conversation in a JSON file: a list of messages, or an object with tools beside them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lookup.duplicates import OnDuplicate
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.messages import Conversation, read_messages
from tooldecoding.chat.tools import read_tool_choice, read_tools
from tooldecoding.errors import PromptError

_KEYS: Final = ("messages", "tools", "tool_choice")


@dataclass(frozen=True)
class MessagesFile:
    """What stands in a file.

    Attributes
    ----------
    conversation : Conversation
    documentation : Documentation or None
        None if the file says nothing about tools.
    tool_choice : str or None
        None if the file does not say it.
    """

    conversation: Conversation
    documentation: Documentation | None
    tool_choice: str | None


def read_messages_file(text: str, origin: str, on_duplicate: OnDuplicate = "error") -> MessagesFile:
    """Read ``[…messages]`` or ``{"messages": […], "tools": […], "tool_choice": …}``.

    Raises
    ------
    ToolDecodingError
        With ``origin``, for malformed JSON, anything else in the file, and as ``read_messages`` and ``read_tools``.
    """
    data = _parsed(text, origin)
    if isinstance(data, list):
        data = {"messages": data}
    if not isinstance(data, Mapping) or "messages" not in data:
        found = f"only {', '.join(map(repr, [*data][:8]))}" if isinstance(data, Mapping) else type(data).__name__
        raise PromptError(f"{origin}: expected a list of messages or an object with 'messages', found {found}")
    if unknown := [key for key in data if key not in _KEYS]:
        raise PromptError(f"{origin}: unknown key {unknown[0]!r:.60}; known: {', '.join(_KEYS)}; options stand beside")
    tools, choice = data.get("tools"), data.get("tool_choice")
    return MessagesFile(
        read_messages(data["messages"], f"{origin}: messages"),
        None if tools is None else read_tools(tools, f"{origin}: tools", on_duplicate),
        None if choice is None else read_tool_choice(choice, f"{origin}: tool_choice"),
    )


def _parsed(text: str, origin: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise PromptError(
            f"{origin}:{error.lineno}:{error.colno}: malformed JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        ) from None
    except ValueError as error:  # a number of thousands of digits
        raise PromptError(f"{origin}: malformed JSON: {error}") from None
    except RecursionError:
        raise PromptError(f"{origin}: malformed JSON: nested too deeply") from None
