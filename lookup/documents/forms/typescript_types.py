"""TypeScript types, as chat templates print them -> JSON Schema, by recursive descent."""

import contextlib
import re
from collections.abc import Collection, Sequence
from typing import Any, Final, NoReturn

from lookup.dictionary import MISSING
from lookup.errors import LiteralError
from lookup.literals.literal_reader import literal_or, parse_literal
from lookup.scanning import skip
from lookup.type_names import value_type

Schema = dict[str, Any]

MAX_DEPTH: Final = 32
MAX_TRIALS: Final = 20
"""How many lines of one type may look like a key and turn out to be text of a comment."""
MAX_STRING: Final = 1000

_SPACE = re.compile(r"\s*")
_SKIPPED = re.compile(r"(?:\s++|//[^\n]*+)*+")
_COMMENT = re.compile(r"//([^\n]*)")
_LINE = re.compile(r"[^\n]*\s*")
_KEY = re.compile(
    r"""(?:"(?P<quoted>(?:[^"\\\n]|\\.)*+)"|(?P<bare>[^\s:?(){};,"'/|\[\]&<>=][^:?(){}\n]{0,200}?))
        [ \t]*(?P<optional>\?)?[ \t]*:(?=\s|[\w"'({\[])""",
    re.VERBOSE,
)
_INDEX = re.compile(r"\[[ \t]*\w+[ \t]*:[^\]\n]{1,100}\][ \t]*:")
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
_NUMBER = re.compile(r"-?\d[\d_]{0,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,4})?")
_GOES_ON = re.compile(r"[ \t]*(?:[,;|&}>)]|\[\])")
# Templates that escape nothing have quotes in a text, which no separator follows.
_STRING_END: Final = r"""(?=[ \t]*(?:[|,;)}\]>=\n]|//|/\*|\[\]|\Z))"""
_STRING = re.compile(rf'"(?:[^"\\\n]|\\.|"(?!{_STRING_END}))*+"')
_ARRAY = re.compile(r"[ \t]*\[\]")
# What ends a key: a comma, a semicolon, the end of the line or of the object; and comments around it.
_SEPARATOR = re.compile(r"[ \t]*+(?://([^\n]*+))?+(?:\s*+[,;](?:[ \t]*+//([^\n]*))?|(?=[ \t]*+[\n\r}]))")
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
    """Reads the types in a text.

    ``declared``: the names that the namespace declares; the schema of such a name is a reference ``#/$defs/name``.
    """

    def __init__(self, text: str, declared: Collection[str]) -> None:
        self.position = 0
        self._text = text
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
        self.take("|")
        branches = [self._branch()]
        while self._bar():
            branches.append(self._branch())
        self._depth -= 1
        return _union(branches)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The match of a pattern at the position, which is stepped over."""
        match = pattern.match(self._text, self.position)
        if match:
            self.position = match.end()
        return match

    def take(self, sign: str) -> bool:
        """Whether a sign follows, which is stepped over with the white space and the comments before it."""
        start = skip(_SKIPPED, self._text, self.position)
        found = self._text.startswith(sign, start)
        if found:
            self.position = start + len(sign)
        return found

    def expect(self, sign: str) -> None:
        """Step over a sign that must follow."""
        if not self.take(sign):
            self._fail(repr(sign))

    def _members(self) -> Schema:
        """The object type whose opening brace is behind the position."""
        properties: Schema = {}
        required: list[str] = []
        schema: Schema = {"type": "object", "properties": properties}
        while not self.take("}"):
            self.match(_SPACE)
            comment = self.position
            self.match(_SKIPPED)
            if self.match(_INDEX):
                schema["additionalProperties"] = self.type()
                self._separator()
                continue
            key, optional, spec = self._member(comment if self.position > comment else None)
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

    def _member(self, comment: int | None) -> tuple[str, bool, Schema]:
        """The name of a key, whether it is optional, and its schema.

        The comment above it begins at ``comment``. Where its lines have no ``//``, those that are no key belong to it.
        """
        while self._text[self.position : self.position + 1] not in ("", "}"):
            start = self.position
            if match := self.match(_KEY):
                try:
                    spec = self._key(match, comment)
                except LiteralError:
                    self._trials += 1
                    if comment is None or self._trials > MAX_TRIALS:
                        raise
                else:
                    key = match["bare"] if match["quoted"] is None else _text_of(f'"{match["quoted"]}"')
                    return key, match["optional"] is not None, spec
            elif comment is None:
                break
            self.position = start
            self.match(_LINE)
        self._fail("a key")

    def _key(self, match: re.Match[str], comment: int | None) -> Schema:
        """The schema of a key with what the comments around it say."""
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
            above = comment_text(self._text[comment : match.start()])
            _add_comment(spec, above, "default: " if broken else "Default: ")
        for written in behind:
            default = _default(written, spec.get("enum"))
            if default is not MISSING:
                spec.setdefault("default", default)
            elif written.strip():
                spec.setdefault("description", written.strip())
        return spec

    def _separator(self) -> None:
        """What ends a key, with the comments around it."""
        match = self.match(_SEPARATOR)
        if not match:
            self._fail("',' or '}'")
        self._comments += filter(None, match.groups())

    def _bar(self) -> bool:
        """Whether another branch of a union follows; some templates write the bar behind a comment, as its end."""
        end = skip(_SKIPPED, self._text, self.position)
        comments = _COMMENT.findall(self._text[self.position : end])
        if self._text.startswith("|", end):
            end += 1
        elif comments and comments[-1].rstrip().endswith(" |"):
            comments[-1] = comments[-1].rstrip().removesuffix(" |")
        else:
            return False
        self._comments += comments
        self.position = end
        return True

    def _branch(self) -> Schema:
        """A type without a bar, with the brackets of arrays behind it."""
        schema = self._primary()
        while self.match(_ARRAY):
            schema = _array(schema)
        return schema

    def _primary(self) -> Schema:
        if self.take("{"):
            return self._members()
        if self.take("("):
            schema = self.type()
            self.expect(")")
            return schema
        self.match(_SKIPPED)
        if (text := self.match(_STRING)) and len(text[0]) <= MAX_STRING:
            return {"const": _text_of(text[0])}
        if number := self.match(_NUMBER):
            return {"const": parse_literal(number[0].replace("_", ""))}
        if name := self.match(_NAME):
            return self._named(name[0])
        self._fail("a type")

    def _named(self, name: str) -> Schema:
        if name in _WORDS:
            return dict(_WORDS[name])
        element: Schema = {}
        if self._text.startswith("<", self.position):
            self.expect("<")
            element = self.type()
            while self.take(","):  # Record<string, number>
                element = self.type()
            self.expect(">")
        if name in ("any", "unknown"):
            return {}
        if name in self._declared:
            return {"$ref": f"#/$defs/{name}"}
        kind = value_type(name).kind
        if kind == "list":
            return _array(element)
        if kind == "dict" and element:
            return {"type": "object", "additionalProperties": element}
        if kind == "any":
            if self._commented and not _GOES_ON.match(self._text, self.position):
                self._fail("the name of a type")  # rather a word in a line of a comment
            return {}
        return {"type": name}

    def _fail(self, expected: str) -> NoReturn:
        raise LiteralError(expected, self.position)


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
    if enum and (listed := [text for text in texts if text in enum]):
        return listed[0]
    for text in texts:
        with contextlib.suppress(LiteralError):
            return parse_literal(text)
    return written.removesuffix(",")


def _text_of(written: str) -> str:
    """The text between two double quotes, with its escapes if they are JSON's."""
    return str(literal_or(written, written[1:-1]))


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
