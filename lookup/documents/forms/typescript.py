"""TypeScript namespaces, as the chat templates of gpt-oss and Kimi print tools.

::

    namespace functions {

    // Get the weather.
    type get_weather = (_: {
    // The city.
    city: string,
    unit?: "celsius" | "fahrenheit", // default: celsius
    }) => any;

    } // namespace functions

A namespace may also declare the types that its functions refer to. Built-in tools of other namespaces than
``functions`` are no tools of the prompt's own.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from lookup.documents.forms.form import TextForm, TextTool
from lookup.documents.forms.json_tools import printed_tool
from lookup.documents.forms.typescript_types import Schema, TypeReader, comment_text
from lookup.documents.parameters.requiredness import is_required
from lookup.errors import LiteralError
from lookup.scanning import bounded
from lookup.schema.document import Document

_OWN_NAMESPACE: Final = "functions"

_NAMESPACE = re.compile(r"^[ \t]*namespace[ \t]+(?P<name>[\w.$-]{1,100})[ \t]*\{", re.MULTILINE)
_CLOSING = re.compile(r"^\}(?![ \t]*[),;|&\[])", re.MULTILINE)  # not that of an object in a type
_DECLARATION = re.compile(
    r"""^[ \t]*(?:type[ \t]+(?P<type>[^\s=<>(){};]{1,200})[ \t]*=(?!=)
        |interface[ \t]+(?P<interface>[\w$]{1,200})[ \t]*(?=\{))""",
    re.VERBOSE | re.MULTILINE,
)
_PARAMETERS = re.compile(r"\s*\(\s*(?:\)|[A-Za-z_$][\w$]{0,199}[ \t]*\??[ \t]*:)")


def find(text: str) -> Iterator[TextTool]:
    """The functions that the namespaces of a text declare."""
    spaces = list(bounded(_NAMESPACE, text)) if "namespace" in text else []
    own = any(match["name"] == _OWN_NAMESPACE for match, _ in spaces)
    for match, limit in spaces:
        if not own or match["name"] == _OWN_NAMESPACE:
            closing = _CLOSING.search(text, match.end(), limit)
            yield from _functions(text, match.end(), closing.start() if closing else limit)


def _functions(text: str, start: int, end: int) -> list[TextTool]:
    """The functions of a namespace, each read up to where the next declaration begins.

    What cannot be read is left out. ``//`` stands in front of each line of the comment above a declaration, or once in
    front of a text of several lines that begins where the declaration above or the namespace has ended.
    """
    matches = list(bounded(_DECLARATION, text, start, end))
    names = {match["type"] or match["interface"] for match, _ in matches}
    functions: list[tuple[str, str, Schema, int, int]] = []
    types: dict[str, Schema] = {}
    behind = start
    for match, limit in matches:
        comment = text[behind : match.start()].lstrip()
        if not comment.startswith("//"):
            comment = ""
        reader = TypeReader(text[match.end() : limit], names)
        opening = reader.match(_PARAMETERS)
        try:
            schema = _parameters(reader, opening[0]) if opening else reader.type()
        except LiteralError:
            continue
        reader.take(";")
        behind = match.end() + reader.position
        name = match["type"] or match["interface"]
        description = comment_text(comment) if comment else ""
        if opening:
            functions.append((name, description, {"type": "object", **schema}, match.start() - len(comment), behind))
        else:
            types[name] = {"description": description, **schema}
    # with the functions, because the size of a document limits what all its tools may take
    root = {"$defs": types, "functions": [schema for _, _, schema, _, _ in functions]}
    document = Document(root, documentation=True, requires=partial(is_required, False))
    return [
        TextTool(tool, first, last)
        for name, description, schema, first, last in functions
        if (tool := printed_tool(name, description, schema, document))
    ]


def _parameters(reader: TypeReader, opening: str) -> Schema:
    """The schema of the parameters of a function behind ``opening``, up to the end of its result."""
    schema: Schema = {}
    if not opening.endswith(")"):
        schema = reader.type()
        reader.expect(")")
    reader.expect("=>")
    reader.type()
    return schema


FORM: Final = TextForm("TypeScript namespaces (type name = (_: {key: type}) => any)", find)
