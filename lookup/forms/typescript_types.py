"""TypeScript types, as chat templates print them -> JSON Schema, by recursive descent over a stretch of a text."""

import re
from collections.abc import Collection, Sequence
from typing import Any, Final, NoReturn

from lookup.dictionary import MISSING
from lookup.errors import LiteralError
from lookup.literals.literal_reader import parse_literal
from lookup.type_names import value_type

Schema = dict[str, Any]

MAX_DEPTH: Final = 32
MAX_TRIALS: Final = 20
"""How many lines of one type may look like a key and turn out to be text of a comment."""
MAX_STRING: Final = 1000

_SPACE = re.compile(r"\s*")
_IN_LINE = re.compile(r"[ \t]*")
_COMMENT = re.compile(r"//([^\n]*)")
_KEY = re.compile(
    r"""(?:"(?P<quoted>(?:[^"\\\n]|\\.)*+)"|(?P<bare>[^\s:?(){};,"'/|\[\]&<>=][^:?(){}\n]{0,200}?))
        [ \t]*(?P<optional>\?)?[ \t]*:(?=\s|[\w"'({\[])""",
    re.VERBOSE,
)
_INDEX = re.compile(r"\[[ \t]*\w+[ \t]*:[^\]\n]{1,100}\][ \t]*:")
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
_NUMBER = re.compile(r"-?\d[\d_]{0,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,4})?")
_GOES_ON = re.compile(r"[ \t]*(?:[,;|&}>)]|\[\])")
_STRING_END = re.compile(r"""(?=[ \t]*(?:[|,;)}\]>=\n]|//|/\*|\[\]|\Z))""")
_DEFAULT = re.compile(r"default:[ \t]*", re.IGNORECASE)
# What encoders print of a schema below the description: ``maximum: 10, minimum: 1``.
_CONSTRAINTS = re.compile(
    r"(?:m(?:ax|in)Length|m(?:ax|in)imum|m(?:ax|in)Items|m(?:ax|in)Properties|exclusiveM(?:ax|in)imum|pattern|format"
    r"|multipleOf|uniqueItems): "
)

_NULL: Final = {"type": "null"}
_UNDEFINED: Final = {"type": "undefined"}
_WORDS: Final[dict[str, Schema]] = {
    **{word: {"const": word.lower() == "true"} for word in ("true", "false", "True", "False")},
    **dict.fromkeys(("null", "None"), _NULL),
    "undefined": _UNDEFINED,
}
_TYPE_NAMES: Final = {str: "string", bool: "boolean", int: "integer", float: "number"}


class TypeReader:
    """Reads types of a text between a position and ``limit``.

    Parameters
    ----------
    declared : collection of str
        The names that the namespace declares; the schema of such a name is a reference ``#/$defs/name``.
    """

    def __init__(self, text: str, position: int, limit: int, declared: Collection[str]) -> None:
        self.position = position
        self._text = text
        self._limit = limit
        self._declared = declared
        self._comments: list[str] = []  # those behind the types of the key that is being read
        self._commented = False  # whether lines above the key are a comment, which may go on without marks
        self._depth = 0
        self._trials = 0

    def type(self) -> Schema:
        """The type that starts at the position. LiteralError if none starts there."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail(f"at most {MAX_DEPTH} levels of nesting")
        self._skip()
        self.take("|")
        branches = [self._branch()]
        while self._bar():
            branches.append(self._branch())
        self._depth -= 1
        return _union(branches)

    def take(self, sign: str) -> bool:
        """Whether a sign follows, which is stepped over."""
        start = self.position
        self._skip()
        if self._text.startswith(sign, self.position, self._limit):
            self.position += len(sign)
            return True
        self.position = start
        return False

    def expect(self, sign: str) -> None:
        """Step over a sign that must follow."""
        if not self.take(sign):
            self._fail(repr(sign))

    # Keys

    def _members(self) -> Schema:
        """The object type whose opening brace is at the position."""
        self.expect("{")
        properties: Schema = {}
        required: list[str] = []
        schema: Schema = {"type": "object", "properties": properties}
        while True:
            comment = self._leading_comment()
            if self.take("}"):
                break
            if index := _INDEX.match(self._text, self.position, self._limit):
                self.position = index.end()
                schema["additionalProperties"] = self.type()
                self._separator()
                continue
            key, optional, spec = self._member(comment)
            if key in properties:
                self._fail("a new key")
            properties[key] = spec
            if not optional:
                required.append(key)
        if required:
            schema["required"] = required
        if not properties and "additionalProperties" in schema:
            del schema["properties"]
        return schema

    def _leading_comment(self) -> int | None:
        """Where the ``//`` comments above a key begin; ``None`` without one."""
        self.position = start = self._behind(_SPACE)
        self._skip()
        if self.position >= self._limit:
            self._fail("a key or '}'")
        if not _COMMENT.match(self._text, start, self._limit):
            return None
        if self._text[self.position] not in "}[":
            self._pass_text()
        return start

    def _member(self, comment: int | None) -> tuple[str, bool, Schema]:
        """One key; where lines of its comment have no ``//``, those that are no key belong to the comment."""
        while True:
            start = self.position
            try:
                return self._key(comment, start)
            except LiteralError:
                self._trials += 1
                if comment is None or self._trials > MAX_TRIALS:
                    raise
            self.position = self._line_end(start)
            self._pass_text()

    def _pass_text(self) -> None:
        """Go to the next line that may be a key."""
        while True:
            self.position = self._behind(_SPACE)
            if self.position >= self._limit or self._text[self.position] == "}":
                self._fail("a key")
            if _KEY.match(self._text, self.position, self._limit):
                return
            self.position = self._line_end(self.position)

    def _key(self, comment: int | None, start: int) -> tuple[str, bool, Schema]:
        """The name of a key, whether it is optional, and its schema with what the comments around it say."""
        match = _KEY.match(self._text, start, self._limit)
        if not match:
            self._fail("a key")
        self.position = match.end()
        outer = self._depth, self._comments, self._commented
        behind: list[str] = []
        self._comments, self._commented = behind, comment is not None
        try:
            spec = dict(self.type())
            self._separator()
        finally:
            self._depth, self._comments, self._commented = outer
        if comment is not None:
            broken = self._text.startswith("\n", match.end())
            _add_comment(spec, comment_text(self._text[comment:start]), "default: " if broken else "Default: ")
        for written in behind:
            default = _default(written, spec.get("enum"))
            if default is not MISSING:
                spec.setdefault("default", default)
            elif written.strip():
                spec.setdefault("description", written.strip())
        key = match["bare"] if match["quoted"] is None else _text_of(f'"{match["quoted"]}"')
        return key, match["optional"] is not None, spec

    def _separator(self) -> None:
        """What ends a key: a comma, a semicolon, the end of the line or of the object; and a comment behind it."""
        self._keep_comment()
        following = self._behind(_SPACE)
        if self._text[following : following + 1] in (",", ";") and following < self._limit:
            self.position = following + 1
            self._keep_comment()
        elif self._text[self._behind(_IN_LINE) : self._behind(_IN_LINE) + 1] not in ("\n", "\r", "}"):
            self._fail("',' or '}'")

    # Types

    def _bar(self) -> bool:
        """Whether another branch of a union follows; some templates write the bar behind a comment, as its end."""
        before = len(self._comments)
        start = self.position
        self._skip(keep=True)
        if self.take("|"):
            return True
        if len(self._comments) > before and self._comments[-1].rstrip().endswith(" |"):
            self._comments[-1] = self._comments[-1].rstrip().removesuffix(" |")
            return True
        del self._comments[before:]
        self.position = start
        return False

    def _branch(self) -> Schema:
        """A type without a bar, with the brackets of arrays behind it."""
        schema = self._primary()
        while self._text.startswith("[]", here := self._behind(_IN_LINE)):
            self.position = here + 2
            schema = _array(schema)
        return schema

    def _primary(self) -> Schema:
        self._skip()
        char = self._text[self.position : self.position + 1] if self.position < self._limit else ""
        if char == "{":
            return self._members()
        if char == "(":
            self.position += 1
            schema = self.type()
            self.expect(")")
            return schema
        if char == '"':
            return {"const": self._string()}
        if number := _NUMBER.match(self._text, self.position, self._limit):
            self.position = number.end()
            return {"const": parse_literal(number[0].replace("_", ""))}
        name = _NAME.match(self._text, self.position, self._limit)
        if not name:
            self._fail("a type")
        self.position = name.end()
        return self._named(name[0])

    def _named(self, name: str) -> Schema:
        if name in _WORDS:
            return dict(_WORDS[name])
        element: Schema = {}
        if self._text.startswith("<", self.position):
            self.position += 1
            element = self.type()
            self.expect(">")
        if name in ("any", "unknown"):
            return {}
        if name in self._declared:
            return {"$ref": f"#/$defs/{name}"}
        kind = value_type(name).kind
        if kind == "list":
            return _array(element)
        if kind == "any":
            if self._commented and not _GOES_ON.match(self._text, self.position, self._limit):
                self._fail("the name of a type")  # rather a word in a line of a comment
            return {}
        return {"type": name}

    def _string(self) -> str:
        """A text in quotes; templates that escape nothing have quotes in it, which no separator follows."""
        start = self.position
        line_end = self._text.find("\n", start, self._limit)
        limit = min(line_end if line_end >= 0 else self._limit, start + MAX_STRING)
        escaped = False
        for position in range(start + 1, limit):
            char = self._text[position]
            if char == '"' and not escaped and _STRING_END.match(self._text, position + 1):
                self.position = position + 1
                return _text_of(self._text[start : self.position])
            escaped = char == "\\" and not escaped
        self._fail('a closing "')

    # Characters

    def _skip(self, keep: bool = False) -> None:
        """Step over white space and comments, which may be kept."""
        self.position = self._behind(_SPACE)
        while comment := _COMMENT.match(self._text, self.position, self._limit):
            if keep:
                self._comments.append(comment[1])
            self.position = comment.end()
            self.position = self._behind(_SPACE)

    def _keep_comment(self) -> None:
        """Keep a comment in the rest of the line."""
        if comment := _COMMENT.match(self._text, self._behind(_IN_LINE), self._limit):
            self._comments.append(comment[1])
            self.position = comment.end()

    def _behind(self, blank: re.Pattern[str]) -> int:
        match = blank.match(self._text, self.position, self._limit)
        return match.end() if match else self.position

    def _line_end(self, position: int) -> int:
        end = self._text.find("\n", position, self._limit)
        return end if end >= 0 else self._limit

    def _fail(self, expected: str) -> NoReturn:
        raise LiteralError(expected, min(self.position, self._limit))


def comment_text(region: str) -> str:
    r"""The text of a block of ``//`` lines.

    Some encoders write ``//`` in front of each line, others only once in front of a text of several lines. The line end
    behind the block and the indentation of the next line do not belong to it.
    """
    head, _, indentation = region.rpartition("\n")
    lines = (head if not indentation.strip() else region).lstrip().split("\n")
    everywhere = all(not line.strip() or line.lstrip().startswith("//") for line in lines)
    marked = lines if everywhere else lines[:1]
    return "\n".join([*(line.lstrip().removeprefix("//").removeprefix(" ") for line in marked), *lines[len(marked) :]])


def _add_comment(spec: Schema, comment: str, mark: str) -> None:
    """Add what the comment above a key says: its description, and its default in a last line that ``mark`` begins.

    Lines at the end of the description that repeat the bounds of the schema are left out.
    """
    lines = comment.split("\n")
    if lines[-1].startswith(mark):
        default = _default(lines.pop(), spec.get("enum"))
        spec |= {} if default is MISSING else {"default": default}
    while lines and _CONSTRAINTS.match(lines[-1]):
        lines.pop()
    if description := "\n".join(lines):
        spec["description"] = description


def _default(comment: str, enum: Any) -> Any:
    """The default that a comment ``default: 10`` gives; ``MISSING`` if it says something else.

    Some templates write a comma behind the comment, which then belongs to it.
    """
    match = _DEFAULT.match(comment.strip())
    if not match:
        return MISSING
    written = comment.strip()[match.end() :]
    texts = (written, written.removesuffix(",").rstrip())
    for text in texts:
        if enum and text in enum:
            return text
    for text in texts:
        try:
            return parse_literal(text)
        except LiteralError:
            continue
    return written.removesuffix(",")


def _text_of(written: str) -> str:
    """The text between two double quotes, with its escapes if they are JSON's."""
    try:
        return str(parse_literal(written))
    except LiteralError:
        return written[1:-1]


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": _union([items])} if items else {"type": "array"}


def _union(branches: Sequence[Schema]) -> Schema:
    """The schema of a union: an enum of literals, a list of plain types, or ``anyOf``."""
    *literals, last = branches
    listed = last.get("items", {}).get("enum", ())
    if literals and len(listed) == 1 and all("const" in branch for branch in literals):
        # ``"a" | "b"[]`` of an encoder that sets no parentheses
        return {"type": "array", "items": _enum([branch["const"] for branch in literals] + listed)}
    nullable = _NULL in branches
    named = [branch for branch in branches if branch not in (_NULL, _UNDEFINED)]
    if not named:
        return dict(_NULL)
    if {} in named:
        return {}
    members = [branch["const"] for branch in named if "const" in branch]
    others = [branch for branch in named if "const" not in branch] + ([_enum(members)] if members else [])
    if len(others) == 1:
        return {**others[0], "nullable": True} if nullable and "$ref" not in others[0] else dict(others[0])
    if all(set(branch) == {"type"} and isinstance(branch["type"], str) for branch in others):
        return {"type": [branch["type"] for branch in others] + (["null"] if nullable else [])}
    return {"anyOf": others + ([dict(_NULL)] if nullable else [])}


def _enum(members: list[Any]) -> Schema:
    """The schema of values that are one of some literals."""
    kinds = {type(member) for member in members}
    if kinds == {bool} and len(members) == 2:
        return {"type": "boolean"}
    if kinds <= {int, float} and float in kinds:
        return {"type": "number", "enum": members}
    return {"type": _TYPE_NAMES[kinds.pop()], "enum": members} if len(kinds) == 1 else {"enum": members}
