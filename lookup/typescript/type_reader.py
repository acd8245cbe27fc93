"""TypeScript types as JSON Schema, read by recursive descent over a bounded stretch of a text."""

import re
from collections.abc import Collection
from typing import Any, Final

from lookup.dictionary import MISSING
from lookup.errors import LiteralError
from lookup.literals.literal_reader import parse_literal
from lookup.types.type_names import value_type
from lookup.typescript.comments import line_comments, read_default, without_constraints
from lookup.typescript.scanner import COMMENT, IN_LINE, SPACE, Scanner, TypeScriptError
from lookup.typescript.schemas import NULL, UNDEFINED, Schema, array, union

MAX_DEPTH: Final = 32
MAX_TRIALS: Final = 20
"""How many lines of one type may look like a key and turn out to be text of a comment."""
MAX_STRING: Final = 1000

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
_ANY: Final = frozenset({"any", "unknown"})
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "True": True, "False": False}
_NULLS: Final = frozenset({"null", "None"})


class TypeReader(Scanner):
    """Reads types of a text between its position and ``limit``.

    Parameters
    ----------
    declared : collection of str
        The names that the namespace declares; the schema of such a name is a reference ``#/$defs/name``.
    """

    def __init__(self, text: str, position: int, limit: int, declared: Collection[str]) -> None:
        super().__init__(text, position, limit)
        self._declared = declared
        self._depth = 0
        self._trials = 0
        self._commented = False  # whether lines above the key are a comment, which may go on without marks

    def type(self) -> Schema:
        """The type that starts at the position.

        Raises
        ------
        TypeScriptError
            If none starts there.
        """
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.fail(f"at most {MAX_DEPTH} levels of nesting")
        self.skip()
        self.take("|")
        branches = [self._postfix()]
        while self._bar():
            branches.append(self._postfix())
        self._depth -= 1
        return union(branches)

    def members(self) -> Schema:
        """The object type whose opening brace is at the position."""
        self.expect("{")
        properties: Schema = {}
        required: list[str] = []
        schema: Schema = {"type": "object", "properties": properties}
        while True:
            region = self._leading()
            if self.take("}"):
                break
            if index := _INDEX.match(self.text, self.position, self.limit):
                self.position = index.end()
                schema["additionalProperties"] = self.type()
                self._separator()
            else:
                key, optional, spec = self._member(region)
                if key in properties:
                    self.fail("a new key")
                properties[key] = spec
                if not optional:
                    required.append(key)
        if required:
            schema["required"] = required
        if not properties and "additionalProperties" in schema:
            del schema["properties"]
        return schema

    # A key with its comments

    def _member(self, region: int | None) -> tuple[str, bool, Schema]:
        """One key; where lines of its comment have no ``//``, those that are no key belong to the comment."""
        while True:
            start = self.position
            try:
                return self._key(region, start)
            except TypeScriptError:
                self._trials += 1
                if region is None or self._trials > MAX_TRIALS:
                    raise
            line_end = self.text.find("\n", start, self.limit)
            if line_end < 0:
                self.position = start
                self.fail("a key")
            self.position = line_end
            self._pass_text()

    def _pass_text(self) -> None:
        """Go to the next line that may be a key."""
        while True:
            self.position = self.skipped(SPACE)
            if self.position >= self.limit or self.text[self.position] == "}":
                self.fail("a key")
            if _KEY.match(self.text, self.position, self.limit):
                return
            line_end = self.text.find("\n", self.position, self.limit)
            self.position = line_end if line_end >= 0 else self.limit

    def _key(self, region: int | None, start: int) -> tuple[str, bool, Schema]:
        depth, outer, commented = self._depth, self.comments, self._commented
        self.comments, self._commented = [], region is not None
        match = _KEY.match(self.text, self.position, self.limit)
        try:
            if not match:
                self.fail("a key")
            self.position = match.end()
            broken = self.text.startswith("\n", self.position)
            spec = self.type()
            self._separator()
            comments = self.comments
        finally:
            self._depth, self.comments, self._commented = depth, outer, commented
        enum = spec.get("enum") if isinstance(spec.get("enum"), list) else None
        description, default = self._documented(region, start, broken, enum)
        for comment in comments:
            found = read_default(comment, enum)
            if found is not MISSING:
                default = found if default is MISSING else default
            elif not description:
                description = comment.strip()
        spec = dict(spec)
        if description:
            spec["description"] = description
        if default is not MISSING:
            spec["default"] = default
        key = match["bare"] if match["quoted"] is None else _unescaped(f'"{match["quoted"]}"')
        return key, match["optional"] is not None, spec

    def _documented(self, region: int | None, start: int, broken: bool, enum: list[Any] | None) -> tuple[str, Any]:
        """Description and default of the comments above a key; ``broken`` says that its type begins in a new line."""
        if region is None:
            return "", MISSING
        description = line_comments(self.text[region:start])
        above, _, last = description.rpartition("\n")
        own_line = last.startswith("default: ") if broken else last.startswith("Default: ")
        default = read_default(last, enum) if own_line else MISSING
        return without_constraints(above if own_line else description), default

    def _leading(self) -> int | None:
        """Where the ``//`` comments above a key begin; ``None`` without one."""
        self.position = self.skipped(SPACE)
        region = self.position if COMMENT.match(self.text, self.position, self.limit) else None
        self.skip()
        if self.position >= self.limit:
            self.fail("a key or '}'")
        at_key = self.text[self.position] in "}[" or _KEY.match(self.text, self.position, self.limit)
        if region is not None and not at_key:
            self._pass_text()
        return region

    def _separator(self) -> None:
        """What ends a key: a comma, a semicolon, the end of the line or of the object; and a comment behind it."""
        self.take_comment()
        following = self.skipped(SPACE)
        if self.text[following : following + 1] in (",", ";") and following < self.limit:
            self.position = following + 1
            self.take_comment()
        elif self.text[self.skipped(IN_LINE) : self.skipped(IN_LINE) + 1] not in ("\n", "\r", "}"):
            self.fail("',' or '}'")

    # Types

    def _bar(self) -> bool:
        """Whether another branch of a union follows; some templates write the bar behind a comment, as its end."""
        before = len(self.comments)
        start = self.position
        self.skip(collect=True)
        if self.take("|"):
            return True
        if len(self.comments) > before and self.comments[-1].rstrip().endswith(" |"):
            self.comments[-1] = self.comments[-1].rstrip().removesuffix(" |")
            return True
        del self.comments[before:]
        self.position = start
        return False

    def _postfix(self) -> Schema:
        schema = self._primary()
        while True:
            here = self.skipped(IN_LINE)
            if not self.text.startswith("[]", here):
                return schema
            self.position = here + 2
            schema = array(schema)

    def _primary(self) -> Schema:
        self.skip()
        char = self.text[self.position : self.position + 1] if self.position < self.limit else ""
        if char == "{":
            return self.members()
        if char == "(":
            self.position += 1
            schema = self.type()
            self.expect(")")
            return schema
        if char == '"':
            return {"const": self._string()}
        if number := _NUMBER.match(self.text, self.position, self.limit):
            self.position = number.end()
            try:
                return {"const": parse_literal(number[0].replace("_", ""))}
            except LiteralError:
                self.fail("a number")
        name = _NAME.match(self.text, self.position, self.limit)
        if not name:
            self.fail("a type")
        self.position = name.end()
        return self._named(name[0])

    def _named(self, name: str) -> Schema:
        if name in _WORDS:
            return {"const": _WORDS[name]}
        if name in _NULLS:
            return dict(NULL)
        if name == "undefined":
            return dict(UNDEFINED)
        arguments = self._arguments()
        if name in _ANY:
            return {}
        if name in self._declared:
            return {"$ref": f"#/$defs/{name}"}
        if name == "Record" and len(arguments) == 2:
            return {"type": "object", "additionalProperties": arguments[1]}
        kind = value_type(name).kind
        if kind == "list":
            return array(arguments[0]) if arguments and arguments[0] else {"type": "array"}
        if kind == "any":
            if self._commented and not _GOES_ON.match(self.text, self.position, self.limit):
                self.fail("the name of a type")  # rather a word in a line of a comment
            return {}
        return {"type": name if name.islower() else {"str": "string", "dict": "object"}.get(kind, name)}

    def _arguments(self) -> list[Schema]:
        """The types in angle brackets behind a name, if there are."""
        if not self.text.startswith("<", self.position):
            return []
        self.position += 1
        arguments = [self.type()]
        while self.take(","):
            arguments.append(self.type())
        self.expect(">")
        return arguments

    def _string(self) -> str:
        """A text in quotes; templates that escape nothing have quotes in it, which no separator follows."""
        start = self.position
        line_end = self.text.find("\n", start, self.limit)
        limit = min(line_end if line_end >= 0 else self.limit, start + MAX_STRING)
        escaped = False
        for position in range(start + 1, limit):
            char = self.text[position]
            if char == '"' and not escaped and _STRING_END.match(self.text, position + 1):
                self.position = position + 1
                return _unescaped(self.text[start : self.position])
            escaped = char == "\\" and not escaped
        self.fail('a closing "')


def _unescaped(written: str) -> str:
    try:
        value = parse_literal(written)
    except LiteralError:
        value = None
    return value if isinstance(value, str) else written[1:-1]
