"""Find text that looks like the documentation of a tool but was not read by any form."""

import re
from collections.abc import Iterator
from typing import Final

from lookup.source import Stretches

MAX_REPORTED: Final = 50

# Each alternative begins with fixed text or at the start of a line, so that a search takes one pass.
_LOOKS_LIKE = re.compile(
    r"""(?P<key>["'](?:parameters|input_parameters|required_parameters|inputSchema|input_schema)["'][ \t]*:)
      | (?P<element><(?:function|tool|api)[ \t][^<>\n]{0,200}name[ \t]*=[^<>\n]{0,200}>)
      | ^[ \t]*(?P<assignment>input_parameters[ \t]*=(?!=))
      | ^[ \t]*(?P<heading>(?:\#{1,6}[ \t]*)?(?:Function|Tool|API)(?:[ ]name)?[ \t]*:[ \t]*[^\s\d]\S*[ \t]*$)
      | ^[ \t]*(?P<code>(?:export[ \t]+)?(?:type|function|def|async[ ]function)[ \t]+\w+[ \t]*(?:=[ \t]*)?\()
      | ^[ \t]*(?P<class>class[ \t]+\w+\((?:\w+\.)?(?:BaseModel|TypedDict)\)[ \t]*:)
      | ^[ \t]*(?:-[ ]+)?(?P<yaml>(?:paths|parameters|inputSchema|input_schema)[ ]*:[ \t]*\r?$)
      | ^[ \t]*(?P<arguments>(?:Parameters|Arguments|Args|Input|Tool[ ]Args|Takes[ ]inputs)[ \t]*:[ \t]*(?=\{|\Z))
      | ^[ \t]*(?:\#{1,6}[ \t]+|[*]{2})(?P<label>(?:Parameters|Arguments|Args|Inputs)[*]{0,2}:?[*]{0,2}[ \t]*$)
      | (?P<schema>parameters[ \t]*:[ \t]*z\.object\()
      | ,[ ](?P<rendered>args:[ ](?=\{|\Z))
      | \b(?P<script>parameters[ \t]*:[ \t]*\{)
      | (?P<named><(?:name|tool_name)>[^<>\n]{1,200}</(?:name|tool_name)>)
    """,
    re.VERBOSE | re.MULTILINE,
)
_IN_STRING = re.compile(
    r"""\\["'](?:parameters|input_parameters|required_parameters|inputSchema|input_schema)\\["'][ \t]*:"""
)
_REASONS: Final = {
    "string": "documentation inside a string, which is not searched",
    "key": "an object with parameters that no form reads",
    "element": "an element of a tool without parameters that can be read",
    "assignment": "an assignment of parameters without a literal",
    "heading": "a heading of a tool without documentation that can be read",
    "code": "a function without documentation that can be read",
    "class": "the source text of a class, which is not read; pass the class itself",
    "yaml": "YAML inside other text; it is read in a file of its own or in a fence",
    "arguments": "parameters of a tool in a form that is not known",
    "label": "parameters of a tool in a form that is not known",
    "schema": "parameters of a tool in a form that is not known",
    "rendered": "parameters of a tool in a form that is not known",
    "script": "an object of a script, with keys without quotes",
    "named": "a named element that no form reads",
}


def find_unread(text: str, parsed: Stretches, read: Stretches) -> Iterator[tuple[int, int, str]]:
    """Unread ranges ``(start, end, what it looks like)`` in order, at most 50.

    Parameters
    ----------
    parsed : Stretches
        The literals and tools of the text. They are only searched for documentation inside strings.
    read : Stretches
        The tools only.
    """
    found = []
    for start, end in parsed.gaps(len(text)):
        for match in _LOOKS_LIKE.finditer(text, start, end):
            kind = match.lastgroup or "key"
            found.append((match.start(kind), match.end(kind), _REASONS[kind]))
    for start, end in read.gaps(len(text)):
        found += [(m.start(), m.end(), _REASONS["string"]) for m in _IN_STRING.finditer(text, start, end)]
    yield from sorted(found)[:MAX_REPORTED]
