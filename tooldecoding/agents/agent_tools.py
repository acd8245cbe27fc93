"""Tools that can be run: those of MCP servers, and Python functions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError, ToolDecodingError, quoted, raised
from lookup.grammar.value_grammar import value_grammar
from tooldecoding.agents.functions import result_text, run_function
from tooldecoding.chat.tools import read_tools
from tooldecoding.decoding.bound_call import bind

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

    def result(self, arguments: Mapping[str, Any], room: Callable[[str], int] = len) -> str:
        """Run it; ToolFailed if it fails. What it says is cut, and says so, where ``room`` for characters ends."""
        try:
            return _cut(self.run(arguments), room)
        except ToolFailed as error:
            raise ToolFailed(_cut(str(error), room)) from error.__cause__


def _cut(text: str, room: Callable[[str], int]) -> str:
    text = text.encode(errors="replace").decode()  # no prompt may have half characters
    most = room(text[:MOST_RESULT])
    return text if len(text) <= most else f"{text[:most]}\n[cut: the first {most:,} of {len(text):,} characters]"


def demand_callable(spec: ToolSpec) -> None:
    """DocumentationError if no call of a tool can obey what its documentation says."""
    if spec.conditions is not None and spec.conditions.unsatisfiable:
        raise DocumentationError(f"tool {quoted(spec.name)}: {spec.conditions.notes[0]}")
    for parameter in spec.parameters:
        if parameter.required or parameter.schema is None or not parameter.schema.unsatisfiable:
            try:
                value_grammar(parameter, "json")
            except DocumentationError as error:
                raise DocumentationError(f"tool {quoted(spec.name)}: {error}") from None


def runnable(
    tools: Sequence["AgentTool | Callable[..., Any]"], demand: Callable[[ToolSpec], object] = demand_callable
) -> tuple[list[AgentTool], list[str]]:
    """Return tools by the names that the model calls them, and a line for each that no model can be shown or call.

    ToolDecodingError if a function has the name of a tool before it; a server's tool is left out then.

    ``demand``: raises a ToolDecodingError for a tool that cannot be called.
    """
    usable: list[AgentTool] = []
    names: set[str] = set()
    notes: list[str] = []
    for tool in tools:
        each = tool if isinstance(tool, AgentTool) else _of_function(tool)
        try:
            [spec] = read_tools([each.documentation]).lookup.tools
            demand(spec)
        except ToolDecodingError as error:
            notes.append(f"{each.server or 'tools':.100}: {each.name:.100} is left out: {error!s:.300}")
            continue
        if spec.name in names:
            if not each.server:
                raise ToolDecodingError(f"two tools are called {spec.name!r}")
            notes.append(f"{each.server:.100}: {each.name:.100} is left out: another tool has this name")
            continue
        names.add(spec.name)
        usable.append(replace(each, name=spec.name))
    return usable, notes


def _of_function(function: Callable[..., Any]) -> AgentTool:
    def run(arguments: Mapping[str, Any]) -> str:
        try:
            bound = bind(function, arguments)
        except ToolDecodingError as error:
            raise ToolFailed(f"{error}; the function did not run") from None
        try:
            result = run_function(function, bound)
        except Exception as error:  # whatever the function raises, the model reads
            raise ToolFailed(raised(error)) from error
        return result_text(result)

    return AgentTool(getattr(function, "__name__", type(function).__name__), function, run)
