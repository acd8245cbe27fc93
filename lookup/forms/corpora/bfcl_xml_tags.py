"""The tags of BFCL's XML, and the attributes that they print without escapes."""

import re
from typing import Any, Final, NamedTuple

from lookup.errors import DocumentationError, LiteralError
from lookup.literals.literal_reader import MAX_DEPTH, read_literal
from lookup.parameters.plain_values import plain_value
from lookup.scanning import skip

_TAG = re.compile(
    r"<(?P<close>/?)(?:(?P<tool>function|tool|api)|(?P<keys>params|parameters)|(?P<key>param|parameter)"
    r"|(?P<text>desc|description))(?=[\s/>])"
)
_ATTRIBUTE = re.compile(r"""\s*+,?\s*+(?P<name>[\w:.-]++)(?:\s*+=\s*+(?:(?P<quote>["'])|(?P<bare>[^\s"'<>/]++)))?""")
_TAG_END = re.compile(r"\s*+(?P<empty>/?)>")
# A quote closes a value if the end of the tag, another attribute or a flag without a value follows.
_CLOSING: Final = {
    quote: re.compile(rf"{quote}(?=\s*+/?>|,?\s++(?:[\w:.-]++\s*+(?:=|/?>)|(?:required|optional)\s))")
    for quote in ("'", '"')
}
_BETWEEN = re.compile(r"[\s,]*+")
_BRACKETS: Final = {"[": "]", "(": ")", "{": "}"}


class Opening(NamedTuple):
    """An opening tag.

    Attributes
    ----------
    end : int
        The offset behind it.
    empty : bool
        Whether it closes itself.
    notes : list of str
        What was ignored.
    """

    attributes: dict[str, Any]
    end: int
    empty: bool
    notes: list[str]


class Tags:
    """The tags of a text: matches with the groups ``close``, ``tool``, ``keys``, ``key`` and ``text``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._matches = list(_TAG.finditer(text))

    def __len__(self) -> int:
        return len(self._matches)

    def __getitem__(self, index: int) -> re.Match[str]:
        return self._matches[index]

    def start(self, index: int) -> int:
        """The offset of a tag, or the end of the text behind the last one."""
        return self._matches[index].start() if index < len(self) else len(self.text)

    def tool_opening(self, index: int) -> Opening | None:
        """The opening tag of a tool with a name; ``None`` for any other tag."""
        if not self[index]["tool"] or self[index]["close"]:
            return None
        opening = self.opening(index)
        return opening if opening and opening.attributes.get("name", "").strip() else None

    def opening(self, index: int) -> Opening | None:
        """The opening tag at an index; ``None`` if it is not closed before the next tag."""
        text, limit = self.text, self.start(index + 1)
        position = self[index].end()
        attributes: dict[str, Any] = {}
        notes: list[str] = []
        while not (end := _TAG_END.match(text, position, limit)):
            match = _ATTRIBUTE.match(text, position, limit)
            if match is None:
                return None
            position = match.end()
            value: Any = match["bare"] or "true"
            if match["quote"]:
                is_default = match["name"] == "default" and "default" not in attributes
                found = _printed_value(text[position:limit], match["quote"]) if is_default else None
                if found is None:
                    closing = _CLOSING[match["quote"]].search(text, position, limit)
                    if closing is None:
                        return None
                    found = text[position : closing.start()], closing.start() - position
                    if is_default and found[0][:1] in ("[", "{", "(", "'", '"'):
                        notes.append(f"the default is no literal: {found[0]!r}")
                value = found[0]
                position += found[1] + 1
            attributes.setdefault(match["name"], value)
        return Opening(attributes, end.end(), bool(end["empty"]), notes)

    def end(self, index: int) -> int:
        """The offset behind a closing tag."""
        end = _TAG_END.match(self.text, self[index].end())
        return end.end() if end else self[index].end()


def _printed_value(written: str, quote: str) -> tuple[Any, int] | None:
    """The literal at the beginning of ``written`` and its end, if the closing quote of the attribute follows."""
    is_empty = _CLOSING[quote].match(written) is not None
    for read in (read_literal, _read_without_commas):
        try:
            value, end = read(written, 0)
            # Python's repr uses double quotes only around a single quote: ""it's"" is a text, "" type="" is not.
            if _CLOSING[quote].match(written, end) and not (is_empty and "'" not in written[:end]):
                return plain_value(value, "default", ""), end
        except (LiteralError, DocumentationError):
            continue
    return None


def _read_without_commas(text: str, position: int, depth: int = 0) -> tuple[Any, int]:
    """Like ``read_literal``, for a literal without its commas: ``['a' 'b']``, ``{'a': 1 'b': [2 3]}``."""
    opener = text[position : position + 1]
    if opener not in _BRACKETS or not opener:
        return read_literal(text, position)
    if depth == MAX_DEPTH:
        raise LiteralError(f"at most {MAX_DEPTH} levels of nesting", position)
    members: list[Any] = []
    keys: list[Any] = []
    position = skip(_BETWEEN, text, position + 1)
    while text[position : position + 1] != _BRACKETS[opener]:
        value, position = _read_without_commas(text, position, depth + 1)
        position = skip(_BETWEEN, text, position)
        if opener == "{" and len(keys) == len(members):
            if not isinstance(value, str) or text[position : position + 1] != ":":
                raise LiteralError("a text as key and ':'", position)
            keys.append(value)
            position = skip(_BETWEEN, text, position + 1)
        else:
            members.append(value)
    if opener == "{":
        if len(keys) > len(members):
            raise LiteralError("a value", position)
        return dict(zip(keys, members, strict=True)), position + 1
    return members if opener == "[" else tuple(members), position + 1
