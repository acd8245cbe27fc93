"""TypeScript types as JSON Schema, read by recursive descent over a bounded stretch of a text."""

import re
from collections.abc import Callable
from typing import Any, Final

from lookup.dictionary import MISSING
from lookup.errors import LiteralError
from lookup.literals.literal_reader import parse_literal
from lookup.types.type_names import value_type
from lookup.typescript.comments import DocComment, line_comments, read_default, without_constraints
from lookup.typescript.scanner import COMMENT, IN_LINE, SPACE, Scanner, TypeScriptError
from lookup.typescript.schemas import NULL, UNDEFINED, Schema, array, union

MAX_DEPTH: Final = 32
MAX_TRIALS: Final = 20
"""How many lines of one type may look like a key and turn out to be text of a comment."""
MAX_STRING: Final = 1000

_KEY = re.compile(
    r"""(?:(?:readonly|public)[ \t]+)?(?:"(?P<double>(?:[^"\\\n]|\\.)*+)"|'(?P<single>(?:[^'\\\n]|\\.)*+)'
      |(?P<bare>[^\s:?(){};,"'/|\[\]&<>=][^:?(){}\n]{0,200}?))[ \t]*(?P<optional>\?)?[ \t]*:(?=\s|[\w"'({\[])""",
    re.VERBOSE,
)
_INDEX = re.compile(r"(?:readonly[ \t]+)?\[[ \t]*\w+[ \t]*(?::|in)[^\]\n]{1,100}\]\??[ \t]*:")
_METHOD = re.compile(r"(?P<name>[A-Za-z_$][\w$]*)\??[ \t]*(?=\()")
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
_NUMBER = re.compile(r"-?\d[\d_]{0,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,4})?")
_GOES_ON = re.compile(r"[ \t]*(?:[,;|&}>)]|\[\])")
_STRING_END = re.compile(r"""(?=[ \t]*(?:[|,;)}\]>=\n]|//|/\*|\[\]|\Z))""")
_WRAPPERS: Final = frozenset({"Partial", "Readonly", "Promise", "Required", "NonNullable", "Awaited"})
_ANY: Final = frozenset({"any", "unknown", "never", "void", "this"})
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "True": True, "False": False}
_NULLS: Final = frozenset({"null", "None"})


class TypeReader(Scanner):
    """Reads types of a text between its position and ``limit``.

    Parameters
    ----------
    declared : callable
        Whether a name is declared in the text; the schema of such a name is a reference ``#/$defs/name``.
    """

    def __init__(self, text: str, position: int, limit: int, declared: Callable[[str], bool]) -> None:
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
        branches = [self._intersection()]
        while self._bar():
            branches.append(self._intersection())
        self._depth -= 1
        return union(branches)

    def members(self) -> Schema:
        """The object type whose opening brace is at the position."""
        self.expect("{")
        properties: Schema = {}
        required: list[str] = []
        schema: Schema = {"type": "object", "properties": properties}
        while True:
            region, doc = self._leading()
            if self.take("}"):
                break
            if index := _INDEX.match(self.text, self.position, self.limit):
                self.position = index.end()
                schema["additionalProperties"] = self.type()
                self._separator()
            elif region is None and (method := self._method()):
                self._separator()
                if method in properties:
                    self.fail("a new key")
            else:
                key, optional, spec = self._member(region, doc)
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

    def _member(self, region: int | None, doc: DocComment | None) -> tuple[str, bool, Schema]:
        """One key; where lines of its comment have no ``//``, those that are no key belong to the comment."""
        while True:
            start = self.position
            try:
                return self._key(region, doc, start)
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

    def _key(self, region: int | None, doc: DocComment | None, start: int) -> tuple[str, bool, Schema]:
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
        description, default = self._documented(region, doc, start, broken, enum)
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
        key = match["double"] if match["double"] is not None else match["single"]
        if key is not None:
            key = _unescaped(f'"{key}"' if match["double"] is not None else f"'{key}'")
        return (match["bare"] if key is None else key), match["optional"] is not None, spec

    def _documented(
        self, region: int | None, doc: DocComment | None, start: int, broken: bool, enum: list[Any] | None
    ) -> tuple[str, Any]:
        """Description and default of the comments above a key; ``broken`` says that its type begins in a new line."""
        if doc:
            return doc.description, doc.default
        if region is None:
            return "", MISSING
        description = line_comments(self.text[region:start])
        above, _, last = description.rpartition("\n")
        own_line = last.startswith("default: ") if broken else last.startswith("Default: ")
        default = read_default(last, enum) if own_line else MISSING
        return without_constraints(above if own_line else description), default

    def _leading(self) -> tuple[int | None, DocComment | None]:
        """Where the ``//`` comments above a key begin, or its doc comment."""
        region, doc = None, None
        while True:
            self.position = self.skipped(SPACE)
            comment = COMMENT.match(self.text, self.position, self.limit)
            if not comment:
                break
            if comment[1] is None:
                doc = DocComment(comment[0])
            elif region is None:
                region = self.position
            self.position = comment.end()
        if self.position >= self.limit:
            self.fail("a key or '}'")
        at_key = self.text[self.position] in "}[" or _KEY.match(self.text, self.position, self.limit)
        if region is not None and not at_key:
            self._pass_text()
        return region, doc

    def _method(self) -> str | None:
        """The name of a method or function-valued key, which is no data; read over."""
        match = _METHOD.match(self.text, self.position, self.limit)
        if not match:
            return None
        self.position = match.end()
        self.parenthesized()
        if self.take(":"):
            self.type()
        return match["name"]

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

    def _intersection(self) -> Schema:
        parts = [self._postfix()]
        while self.take("&"):
            parts.append(self._postfix())
        return parts[0] if len(parts) == 1 else {"allOf": parts}

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
        if char == "[":
            return self._tuple()
        if char == "(":
            return self._group()
        if char in ("'", '"', "`"):
            return {"const": self._string(char)}
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
        if name[0] in ("readonly", "keyof", "typeof", "unique", "new"):
            inner = self._postfix()
            return inner if name[0] == "readonly" else {}
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
        if self._declared(name):
            return {"$ref": f"#/$defs/{name}"}
        if name in _WRAPPERS and arguments:
            return arguments[0]
        if name in ("Record", "Map") and len(arguments) == 2:
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

    def _tuple(self) -> Schema:
        self.expect("[")
        items: list[Schema] = []
        while not self.take("]"):
            items.append(self.type())
            if not self.take(","):
                self.expect("]")
                break
        return {"type": "array", "prefixItems": items} if items else {"type": "array"}

    def _group(self) -> Schema:
        """A type in parentheses, or the type of a function, which can be any value."""
        start = self.position
        self.parenthesized()
        end = self.position
        if self.take("=>"):
            self.type()
            return {}
        self.position = start + 1
        schema = self.type()
        self.expect(")")
        if self.position != end:
            self.fail("')'")
        return schema

    def _string(self, quote: str) -> str:
        """A string; templates that escape nothing have quotes in it, which no separator follows."""
        start = self.position
        line_end = self.text.find("\n", start, self.limit)
        limit = min(line_end if line_end >= 0 else self.limit, start + MAX_STRING)
        escaped = False
        for position in range(start + 1, limit):
            char = self.text[position]
            if char == quote and not escaped and _STRING_END.match(self.text, position + 1):
                self.position = position + 1
                return _unescaped(self.text[start : self.position])
            escaped = char == "\\" and not escaped
        self.fail(f"a closing {quote}")


def _unescaped(written: str) -> str:
    try:
        value = parse_literal(written)
    except LiteralError:
        value = None
    return value if isinstance(value, str) else written[1:-1]
