"""Classes of fields as documentation: pydantic models, dataclasses and typed dictionaries in source text.

::

    class Search(BaseModel):
        "Searches the web."

        query: str = Field(description="The query.")
        limit: int = 10

A class is a tool, its fields are the keys. Classes that another one refers to are types of its keys, enum classes too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lookup.dictionary import ANY, ParameterSpec, ToolSpec, ValueType
from lookup.errors import LiteralError
from lookup.forms.form import TextForm, TextTool
from lookup.forms.python_functions import BLANK
from lookup.python.docstring import document
from lookup.python.signature import Signature, read_signature, read_value
from lookup.python.tokens import read_string, tokens
from lookup.scanning import end_of_line, indented_end, skip
from lookup.types.type_names import value_type
from lookup.types.unions import type_of, united

MAX_FIELDS: Final = 500
"""How many fields one class may come to with those of the classes that it refers to."""
MAX_NESTING: Final = 16

_CLASS = re.compile(
    r"""^(?P<indent>[ \t]*)(?P<dataclass>@(?:dataclasses\.)?dataclass(?:\([^()\n]{0,200}\))?[ \t]*\n[ \t]*)?
        class[ \t]+(?P<name>[^\W\d]\w{0,199})[ \t]*(?:\((?P<bases>[^()\n]{0,300})\))?[ \t]*:[^\n]{0,200}$""",
    re.VERBOSE | re.MULTILINE,
)
_MODELS: Final = frozenset({"BaseModel", "TypedDict", "OpenAISchema", "SQLModel", "BaseSettings", "NamedTuple"})
_ENUMS: Final = frozenset({"Enum", "StrEnum", "IntEnum"})
_FIELD = re.compile(r"(?P<name>[^\W\d_]\w{0,199})[ \t]*:(?!=)")
_MEMBER = re.compile(r"(?P<name>[^\W\d]\w{0,199})[ \t]*=(?!=)[ \t]*(?P<value>[^\n]{1,300})")
_NAME = re.compile(r"[^\W\d]\w*")
_AROUND = re.compile(
    r"(?:\w+\.)*(?P<outer>Optional|List|list|Sequence|Iterable|Set|set|Tuple|tuple)\[(?P<inner>.+)\]", re.DOTALL
)
_QUOTED = re.compile(r"(?P<quote>[rRuU]?(?:\"\"\"|'''|\"|'))")


@dataclass
class _Class:
    """One class: where it stands, and what its body holds."""

    name: str
    start: int
    end: int
    docstring: str = ""
    signature: Signature | None = None
    enum: tuple[Any, ...] | None = None
    refers: set[str] = field(default_factory=set)


def find(text: str) -> Iterator[TextTool]:
    """The classes of fields of a text that no other refers to."""
    if "class " not in text:
        return
    classes = _classes(text)
    referred: set[str] = set()
    for found in classes.values():
        referred |= found.refers - {found.name}
    reader = _Types(classes)
    for found in classes.values():
        if found.signature and found.signature.parameters and found.name not in referred:
            yield TextTool(reader.tool(found), found.start, found.end)


def _classes(text: str) -> dict[str, _Class]:
    """The classes of fields and the enums of a text, by name."""
    classes: dict[str, _Class] = {}
    behind = 0
    for match in _CLASS.finditer(text):
        if match.start() < behind:
            continue
        bases = {base.strip().rsplit(".", 1)[-1] for base in (match["bases"] or "").split(",")}
        is_enum = not _ENUMS.isdisjoint(bases)
        if not (is_enum or match["dataclass"] or not _MODELS.isdisjoint(bases) or not bases.isdisjoint(classes)):
            continue
        end = indented_end(text, end_of_line(text, match.end()) + 1, match["indent"])
        found = _Class(match["name"], match.end("indent"), end)
        _read_body(text, match.end(), end, found, is_enum)
        for base in bases & classes.keys():
            _inherit(found, classes[base])
        classes.setdefault(found.name, found)
        behind = end
    for found in classes.values():
        for parameter in found.signature.parameters if found.signature else ():
            found.refers |= set(_NAME.findall(parameter.raw_type)) & classes.keys()
    return classes


def _inherit(found: _Class, base: _Class) -> None:
    if found.signature and base.signature:
        own = {parameter.key: parameter for parameter in found.signature.parameters}
        inherited = [p for p in base.signature.parameters if p.key not in own]
        found.signature = replace(found.signature, parameters=(*inherited, *own.values()))


def _read_body(text: str, start: int, end: int, found: _Class, is_enum: bool) -> None:
    """Read the statements of a class body at the indentation of the first one."""
    first = skip(BLANK, text, start + 1)
    if first >= end:
        return
    opening = _QUOTED.match(text, first, end)
    if opening:
        try:
            found.docstring, first = read_string(text, first, end)
        except LiteralError:
            return
    indent = None
    fields, members = [], []
    for begin, stop in _statements(text, first, end):
        line_start = text.rfind("\n", 0, begin) + 1
        own = text[line_start:begin]
        if own.strip():
            continue
        indent = own if indent is None else indent
        if own != indent:
            continue
        if is_enum and (member := _MEMBER.match(text, begin, stop)):
            members.append(member["value"])
        elif _FIELD.match(text, begin, stop) and not text.startswith("model_config", begin):
            fields.append(text[begin:stop])
    if is_enum:
        found.enum = _enum(members)
        return
    try:
        # The fields are written as the parameters of a function are.
        found.signature = read_signature("(" + "\n,".join(fields) + "\n)", 0)
    except LiteralError:
        found.signature = None


def _statements(text: str, position: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the statements of a body begin and end: at line ends outside of brackets."""
    begin = skip(BLANK, text, position)
    try:
        for token, start, stop, depth in tokens(text, position, end):
            if token == "\n" and depth == 0:
                if start > begin:
                    yield begin, start
                begin = max(begin, skip(BLANK, text, stop))
    except LiteralError:
        return
    if begin < end:
        yield begin, end


def _enum(written: list[str]) -> tuple[Any, ...] | None:
    members = []
    for value in written:
        try:
            members.append(read_value(value.split(" #", 1)[0].strip()))
        except LiteralError:
            return None
    return tuple(members) or None


class _Types:
    """The types of fields, with the keys of the classes that they name."""

    def __init__(self, classes: dict[str, _Class]) -> None:
        self._classes = classes
        self._done: dict[str, tuple[tuple[ParameterSpec, ...], int]] = {}
        self._active: set[str] = set()

    def tool(self, found: _Class) -> ToolSpec:
        """The tool whose keys are the fields of a class."""
        notes = found.signature.notes if found.signature else ()
        parameters = found.signature.parameters if found.signature else ()
        tool = document(found.name, parameters, notes, found.docstring)
        return replace(tool, parameters=self._parameters(found.name, tool.parameters)[0])

    def _parameters(self, name: str, specs: tuple[ParameterSpec, ...]) -> tuple[tuple[ParameterSpec, ...], int]:
        """The keys with their types, and how many they are with those inside."""
        if name not in self._done:
            self._active.add(name)
            size, typed = len(specs), []
            for spec in specs:
                kind, inside = self._type(spec.raw_type)
                size += inside
                if size > MAX_FIELDS:
                    kind, size = value_type(spec.raw_type), size - inside
                named = kind.enum if spec.enum is None else spec.enum
                typed.append(replace(spec, type=replace(kind, enum=None), enum=named) if kind != ANY else spec)
            self._active.discard(name)
            self._done[name] = tuple(typed), size
        return self._done[name]

    def _type(self, written: str) -> tuple[ValueType, int]:
        """The type that an annotation names, and how many keys are in it."""
        written = written.strip().strip("\"'")
        if self._classes.keys().isdisjoint(_NAME.findall(written)):
            return value_type(written), 0
        branches = [part.strip() for part in written.split("|")] if "[" not in written else [written]
        if len(branches) > 1:
            found = [self._type(branch) for branch in branches if branch != "None"]
            kind = united(kind for kind, _ in found)
            return replace(kind, nullable="None" in branches), sum(size for _, size in found)
        around = _AROUND.fullmatch(written.removesuffix("| None").strip())
        if around:
            kind, size = self._type(around["inner"])
            if around["outer"] == "Optional":
                return replace(kind, nullable=True), size
            return ValueType("list", None if kind == ANY else kind), size
        return self._named(written)

    def _named(self, name: str) -> tuple[ValueType, int]:
        found = self._classes.get(name)
        if found is None:
            return value_type(name), 0
        if found.enum:
            return replace(type_of(found.enum), enum=found.enum), 0
        if name in self._active or len(self._active) > MAX_NESTING or not found.signature:
            return ValueType("dict"), 0
        specs, size = self._parameters(name, document(name, found.signature.parameters, (), found.docstring).parameters)
        return (ValueType("dict", properties=specs), size) if specs else (ValueType("dict"), 0)


FORM: Final = TextForm("classes of fields (pydantic models, dataclasses)", find, fallback=True)
