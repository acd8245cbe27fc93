"""Tools that can be run: those of MCP servers, and Python functions."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lookup.errors import ToolDecodingError
from tooldecoding.chat.tools import read_tools

MOST_TURNS: Final = 8
"""Default for how often the model may be asked."""

MOST_RESULT: Final = 20_000
"""Characters of a result that the model reads."""


class ToolFailed(ToolDecodingError):
    """A tool was called and failed; the text goes to the model."""


@dataclass(frozen=True)
class AgentTool:
    """A tool that an agent can run.

    Attributes
    ----------
    name : str
        What the model calls it.
    documentation : Any
        What ``ToolDecoder.chat`` takes for it.
    run : callable
        Takes the arguments and returns the result; ToolFailed if it fails.
    server : str
        The server that has it; empty for a Python function.
    hints : str
        What the server says of it, such as ``readOnlyHint``. Nothing relies on that.
    """

    name: str
    documentation: Any
    run: Callable[[Mapping[str, Any]], str]
    server: str = ""
    hints: str = ""

    def result(self, arguments: Mapping[str, Any]) -> str:
        """Run it; a result beyond ``MOST_RESULT`` characters is cut, and says so. ToolFailed if it fails."""
        text = self.run(arguments)
        if len(text) <= MOST_RESULT:
            return text
        return f"{text[:MOST_RESULT]}\n[cut: the first {MOST_RESULT:,} of {len(text):,} characters]"


def runnable(tools: Sequence["AgentTool | Callable[..., Any]"]) -> tuple[list[AgentTool], list[str]]:
    """Return tools by the names that the model calls them, and a line for each that no model can be shown.

    Raises
    ------
    ToolDecodingError
        If a function has the name of a tool before it; a server's tool is left out then.
    """
    usable: list[AgentTool] = []
    notes: list[str] = []
    for tool in tools:
        each = tool if isinstance(tool, AgentTool) else _of_function(tool)
        try:
            [spec] = read_tools([each.documentation], each.server or "tools").lookup.tools
        except ToolDecodingError as error:
            notes.append(f"{each.server or 'tools'}: {each.name} is left out: {error}")
            continue
        if spec.name in [other.name for other in usable]:
            if not each.server:
                raise ToolDecodingError(f"two tools are called {spec.name!r}")
            notes.append(f"{each.server}: {each.name} is left out: another tool has this name")
            continue
        usable.append(each)
    return usable, notes


def _of_function(function: Callable[..., Any]) -> AgentTool:
    def run(arguments: Mapping[str, Any]) -> str:
        try:
            result = function(**arguments)
            return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        except Exception as error:  # whatever the function raises, the model reads
            raise ToolFailed(f"{type(error).__name__}: {error}") from error

    return AgentTool(function.__name__, function, run)
