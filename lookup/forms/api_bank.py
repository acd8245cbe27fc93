"""API-Bank's tools: the JSON object of its prompts, and its Python source text.

``{"name", "description", "input_parameters": {key: {"type", "description"}}, "output_parameters"}``, or::

    class AddAgenda(API):
        description = "..."
        input_parameters = {'token': {'type': 'str', 'description': '...'}}

Every documented key is required, unless the property says otherwise or its description contains ``[Optional]``.
"""

import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lookup.dictionary import ToolSpec
from lookup.errors import DocumentationError, LiteralError, MisreadError
from lookup.forms.form import ObjectForm, TextTool, one_tool, read_name
from lookup.literals.literal_reader import read_literal
from lookup.messages import found_at, quoted, shown
from lookup.parameters.descriptions import read_description
from lookup.parameters.property_reader import PropertyReader

# An assignment, or a line that may contain the name of the tool below.
_LINE = re.compile(
    r"""^(?P<indent>[ \t]*)(?:
        (?:self\.)?(?P<variable>description|input_parameters|output_parameters)
            [ \t]*+(?::[^=\n]*+)?=(?!=)[ \t]*+
      | class[ \t]++(?P<klass>[^\W\d]\w*)[ \t]*[(:]
      | (?:self\.)?(?:api_|tool_)?name[ \t]*=[ \t]*(?:"(?P<assigned>[^"\n]+)"|'(?P<quoted>[^'\n]+)')
      | (?:\#{1,6}[ \t]*|[-*][ \t]+|\d{1,4}[.)][ \t]*){0,3}
        (?:(?:api|tool|function|class|(?:(?:api|tool|function)[ _-]?)?name)[ \t]*:[ \t]*)?
        [`*"']{0,2}(?P<heading>[^\W\d][\w.-]*)[`*"']{0,2}
        (?:\([^\n]*\)(?:[ \t]*->[^\n]*)?)?[`*"']{0,2}[ \t]*+:?[ \t]*+\r?$
    )""",
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_LITERAL_START = re.compile(r"""[{\[("'\d+-]|(?:None|null)\b""")


def claims(data: Mapping[str, Any]) -> bool:
    """Whether the object documents a tool in API-Bank's form."""
    return "input_parameters" in data and ("name" in data or "description" in data)


def read_tool(data: Mapping[str, Any]) -> ToolSpec:
    """Read one tool. ``input_parameters`` may be null or ``{None}`` for a tool without parameters.

    Raises
    ------
    DocumentationError
        Naming tool and parameter: the name is not a text, or ``input_parameters`` or a key is not an object.
    """
    name = read_name(data)
    owner = f"tool {quoted(name)}"
    parameters = data["input_parameters"]
    if parameters is None or parameters == {None}:
        parameters = {}
    if not isinstance(parameters, Mapping):
        raise DocumentationError(
            f"{owner}: expected 'input_parameters' to be an object of parameters, found {shown(parameters)}"
        )
    reader = PropertyReader(owner, {}, habit=True)
    keys = reader.parameters({"properties": parameters})
    return ToolSpec(name, read_description(data, owner), keys, notes=tuple(reader.notes))


@dataclass
class _Block:
    """The assignments of one tool read so far, and the name above them."""

    name: str | None
    name_at: tuple[int, int] = (0, 0)  # the line with the name
    class_indent: int | None = None
    description: Any = None
    description_error: MisreadError | None = None
    parameters: Any = None
    complete: bool = False  # whether ``input_parameters`` has been read
    start: int | None = None
    end: int = 0

    def has(self, variable: str) -> bool:
        """Whether another assignment of ``variable`` belongs to the next block."""
        return self.complete and (variable == "input_parameters" or self.description is not None)

    def stretch(self, text: str) -> tuple[int, int]:
        """From the line with the name to the last assignment, or to the end of the class body."""
        start, end = self.start or 0, self.end
        if self.class_indent is not None:
            line_behind = re.compile(rf"^[ \t]{{0,{self.class_indent}}}\S", re.MULTILINE).search(text, end)
            return self.name_at[0], line_behind.start() if line_behind else len(text)
        if self.name_at[1] and not text[self.name_at[1] : start].strip():
            start = self.name_at[0]
        return start, end

    def tool(self, text: str) -> TextTool:
        """The finished block's tool."""
        start = self.start or 0
        if self.name is None:
            raise MisreadError(
                "input_parameters without a tool name: expected a line above it such as "
                "'class Name(API):', 'Name(...)', 'Name', '# Name' or name = \"Name\"",
                start,
            )
        if self.description_error:
            raise self.description_error
        data = {"name": self.name, "description": self.description, "input_parameters": self.parameters}
        try:
            return TextTool(read_tool(data), *self.stretch(text))
        except DocumentationError as error:
            raise MisreadError(str(error), start) from None


def find_assignments(text: str, name: str | None = None) -> Iterator[TextTool]:
    """The tools that a text documents as assignments.

    Parameters
    ----------
    name : str, optional
        The name of a tool without one above it. By default, that is an error.

    Raises
    ------
    MisreadError
        If a block has no name or its literal is malformed.
    """
    if "input_parameters" not in text:
        return
    block = _Block(name)
    position = 0
    while match := _LINE.search(text, position):
        position = max(match.end(), position + 1)
        if match["variable"] is None:
            if block.complete:
                yield block.tool(text)
                block = _Block(name)
            _take_name(block, match)
            continue
        variable = match["variable"].lower()
        if not _LITERAL_START.match(text, match.end()):
            continue  # code that assigns something else to such a name
        if variable == "output_parameters":
            position = _skip_value(block, text, match.end())
            continue
        if block.has(variable):
            yield block.tool(text)
            block = _Block(name)
        position = _take_value(block, variable, text, match)
    if block.complete:
        yield block.tool(text)


def _take_name(block: _Block, match: re.Match[str]) -> None:
    """Take the name in a line. Inside a class body, only ``name = "..."`` overrides the name of the class."""
    indent = len(match["indent"])
    if match["klass"]:
        block.name, block.class_indent, block.description = match["klass"], indent, None
    elif assigned := match["assigned"] or match["quoted"]:
        block.name = assigned
    elif not keyword.iskeyword(match["heading"]) and (block.class_indent is None or indent <= block.class_indent):
        block.name, block.class_indent, block.description = match["heading"], None, None
    if block.class_indent is None or match["klass"]:
        block.name_at = (match.start(), match.end())


def _skip_value(block: _Block, text: str, start: int) -> int:
    """The offset behind an assigned literal that is ignored. It extends a block that has begun."""
    try:
        end = read_literal(text, start)[1]
    except LiteralError:
        return start
    if block.start is not None:
        block.end = max(block.end, end)
    return end


def _take_value(block: _Block, variable: str, text: str, match: re.Match[str]) -> int:
    """Read the assigned literal into the block. Return the offset behind it."""
    start = match.start() + len(match["indent"])
    try:
        value, end = read_literal(text, match.end())
    except LiteralError as error:
        misread = MisreadError(
            f"{variable} of {f'tool {block.name!r}' if block.name else 'a tool'}: expected {error.expected}, "
            f"found {found_at(text, error.position)}",
            error.position,
        )
        if variable == "input_parameters":
            raise misread from None
        # Prose may contain "description = ..."; it is an error only if a tool follows.
        block.description_error = misread
        return match.end()
    if block.start is None or (variable == "description" and not block.complete):
        block.start = start
    if variable == "description":
        block.description, block.description_error = value, None
    else:
        block.parameters, block.complete = value, True
    block.end = end
    return end


OBJECT_FORM: Final = ObjectForm(
    'API-Bank objects {"name", "description", "input_parameters"}', claims, one_tool(read_tool)
)
