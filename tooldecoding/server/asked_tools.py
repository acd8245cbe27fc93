"""The tools of a request: which may be called, what of them is not read, and what of their schemas is not enforced."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from lookup.dictionary import LookupDictionary, ToolSpec
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.tools import read_tool_choice, read_tools
from tooldecoding.errors import ChatWarning, PromptError
from tooldecoding.files.json_lines import short_repr
from tooldecoding.options import TOOL_CHOICES

MAX_TOOLS: Final = 2_000
_MOST_NOTES: Final = 20


def read_documentation(tools: Sequence[Any] | None) -> tuple[Documentation, list[str]]:
    """Return the documentation of tools, what was not read, and what is not enforced.

    Only what OpenAI documents is taken: untrusted text is not searched for documentation of any kind.

    Raises
    ------
    ToolDecodingError
        For anything else, and where something strict cannot be enforced.
    """
    tools = tools or ()
    if len(tools) > MAX_TOOLS:
        raise PromptError(f"expected at most {MAX_TOOLS} tools, found {len(tools)}")
    strict: dict[str, bool] = {}
    for number, given in enumerate(tools):
        match given:
            case {"type": "function", "function": {"name": str(name), **function}}:
                strict[name] = function.get("strict") is True
            case _:
                shape = '{"type": "function", "function": {"name": …, "parameters": …}}'
                raise PromptError(f"tools[{number}]: expected {shape}, found {short_repr(given)}")
    with noted() as notes:
        documentation = read_tools(tools)
    for tool in documentation.lookup.tools:
        found = unenforced(tool, strict.get(tool.documented_name or tool.name, False))
        notes += (f"tool {tool.name!r:.60}: {note}" for note in found)
    return documentation, notes[:_MOST_NOTES]


def read_choice(given: Any, lookup: LookupDictionary) -> tuple[str, LookupDictionary]:
    """Return the option ``tool_choice``, and the tools that may be called.

    ``{"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": […]}}`` keeps some of them.

    Raises
    ------
    PromptError
        For anything that OpenAI does not document, and an unknown tool.
    """
    if given is None:
        return "auto", lookup
    if not isinstance(given, Mapping) or given.get("type") != "allowed_tools":
        choice = read_tool_choice(given)
        if isinstance(given, str) and choice not in TOOL_CHOICES:
            known = ", ".join(TOOL_CHOICES)
            raise PromptError(f"expected {known} or an object that names a function, found {given!r:.60}")
        if choice == "required" and not len(lookup):
            raise PromptError("a call is required, but there are no tools")
        _demand_known({choice}.difference(TOOL_CHOICES), lookup)
        return choice, lookup
    inner = given.get("allowed_tools")
    mode, named = (inner.get("mode"), inner.get("tools")) if isinstance(inner, Mapping) else (None, None)
    if mode not in ("auto", "required") or not isinstance(named, list) or not named:
        raise PromptError('allowed_tools: expected {"mode": "auto" or "required", "tools": [one or more]}')
    names = [read_tool_choice(each) if isinstance(each, Mapping) else "" for each in named]
    _demand_known(names, lookup)
    return mode, LookupDictionary(tuple(tool for tool in lookup.tools if tool.name in names))


def _demand_known(names: Iterable[str], lookup: LookupDictionary) -> None:
    for name in names:
        if name not in lookup:
            raise PromptError(f"unknown tool {name!r:.60}; known: {', '.join(lookup) or 'none':.200}")


@contextmanager
def noted() -> Iterator[list[str]]:
    """Collect what the chat template leaves out, as texts."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ChatWarning)
        yield notes
    notes += [str(each.message) for each in caught if issubclass(each.category, ChatWarning)]


def unenforced(tool: ToolSpec, strict: bool) -> list[str]:
    """Return what of a tool's schema is not enforced while it is decoded.

    Raises
    ------
    PromptError
        If there is something, and the schema is strict.
    """
    # the tool's own notes say where references lead nowhere
    found = [*tool.notes, *(note for note in tool.unenforced if "leads nowhere" not in note)][:_MOST_NOTES]
    if strict and found:
        raise PromptError(f"strict is asked for, but not all of the schema can be enforced: {found[0]:.200}")
    return found
