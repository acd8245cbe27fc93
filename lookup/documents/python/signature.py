"""Read Python parameter lists in any text: ``(a: int, b: str = 'x', *, c: list[str] | None = None)``.

Python's own parser reads them; nothing is evaluated. A key with a default is optional, even if the default is an
expression that only Python can evaluate; otherwise it is required.
"""

import ast
import contextlib
import keyword
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeGuard

from lookup.dictionary import ANY, MISSING, ParameterSpec
from lookup.documents.python.syntax import list_end, parse, parse_expression, read_value, unparse
from lookup.errors import LiteralError
from lookup.type_names import value_type

# Documentation has keys that Python reserves. With a letter behind them, which is taken away again, Python reads them.
_LETTER: Final = "\u02bc"
_RESERVED = re.compile(rf"(?<=[\s,])({'|'.join(set(keyword.kwlist) - {'lambda', 'None', 'True', 'False'})})(?=\s*:)")
_NAME = re.compile(r"\w+")


def unsaid(key: str = "") -> ParameterSpec:
    """A key of which nothing is said.

    In what signatures and docstrings say of it, the rule ``default`` says that there is a default, also one that is no
    literal; ``required`` is what words say.
    """
    return ParameterSpec(key, ANY, "", None)


def over(one: ParameterSpec, other: ParameterSpec) -> ParameterSpec:
    """A key with what another place says of it and this one does not."""
    listed = one.enum is None and other.enum is not None
    return ParameterSpec(
        one.name,
        one.type if one.raw_type else other.type,
        one.raw_type or other.raw_type,
        other.required if one.required is None else one.required,
        one.description or other.description,
        other.enum if listed else one.enum,
        other.default if one.default is MISSING else one.default,
        "default" if "default" in (one.rule, other.rule) else one.rule,
        None if listed else one.schema,  # members that another place lists say more than limits
    )


@dataclass(frozen=True)
class Signature:
    """A parameter list, notes about what was ignored, and the offset behind it."""

    parameters: tuple[ParameterSpec, ...]
    notes: tuple[str, ...]
    end: int


def read_signature(text: str, position: int, limit: int | None = None) -> Signature:
    """Read the parameter list that opens at ``position``. It must close before ``limit``.

    ``*args`` and ``**kwargs`` become notes. A first parameter ``self`` or ``cls`` is dropped.

    LiteralError if the list is not closed or too long, or is no list of parameters with different names.
    """
    end = list_end(text, position, limit)
    try:
        source = _Source(text[position:end])
    except LiteralError:
        raise LiteralError("parameters such as 'key: type'", position) from None
    parameters: dict[str, ParameterSpec] = {}
    notes: list[str] = []
    for number, (argument, default) in enumerate(_arguments(source)):
        if isinstance(argument, str):
            notes.append(no_key(argument))
            continue
        key = source.name(argument)
        if key in parameters:
            raise LiteralError("a key that is not there yet", position)
        if number or key not in ("self", "cls"):
            parameters[key] = _parameter(key, argument, default, source, notes)
    return Signature(tuple(parameters.values()), tuple(notes), end)


class _Source:
    """A parameter list as the head of a function, and the texts of the nodes of its syntax tree."""

    def __init__(self, written: str) -> None:
        written = written.replace("\r\n", "\n").replace("\r", "\n")
        try:
            self._take(f"def f{written}: ...")
        except LiteralError:  # documentation has keys without a default behind others with one
            written = _RESERVED.sub(rf"\1{_LETTER}", f" {written[1:]}")
            self._take(f"def f(*,{written}: ...")

    def _take(self, source: str) -> None:
        [function] = parse(source)
        if not isinstance(function, ast.FunctionDef):
            raise LiteralError("a list of parameters", 0)
        self.arguments = function.args
        self._lines = source.encode().split(b"\n")

    def text(self, node: ast.expr) -> str:
        """The text of a node, on one line."""
        if node.end_lineno != node.lineno:
            return unparse(node)
        return self._lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode().replace(_LETTER, "")

    def name(self, argument: ast.arg) -> str:
        """The name of a parameter as it is written; Python's own is normalised."""
        end = argument.end_col_offset if argument.end_lineno == argument.lineno else None
        found = _NAME.match(self._lines[argument.lineno - 1][argument.col_offset : end].decode())
        name = found[0] if found else argument.arg
        return name.removesuffix(_LETTER) if keyword.iskeyword(name.removesuffix(_LETTER)) else name


def _arguments(source: _Source) -> Iterator[tuple[ast.arg | str, ast.expr | None]]:
    """Each parameter with its default, in order; ``*args`` and ``**kwargs`` as texts."""
    arguments = source.arguments
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(positional) - len(arguments.defaults)), *arguments.defaults]
    yield from zip(positional, defaults, strict=True)
    if arguments.vararg:
        yield f"*{arguments.vararg.arg}", None
    yield from zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    if arguments.kwarg:
        yield f"**{arguments.kwarg.arg}", None


def no_key(starred: str) -> str:
    """The note for ``*args`` and ``**kwargs``."""
    return f"{starred} takes values beside the documented keys: it is no key"


def no_literal(key: str, written: str) -> str:
    """The note for a default that is not a literal."""
    shown = " ".join(written.split())
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return f"the default of {key!r} is no literal: {shown}"


def _parameter(
    key: str, argument: ast.arg, default: ast.expr | None, source: _Source, notes: list[str]
) -> ParameterSpec:
    found = unsaid(key)
    if argument.annotation:
        found = _annotated(found, argument.annotation, source.text)
    if default is not None and _is_field(default):
        default, description = _field(default)
        found = replace(found, description=description or found.description)
    if default is None:
        return found
    try:
        return replace(found, default=read_value(source.text(default), default), rule="default")
    except LiteralError:
        notes.append(no_literal(key, source.text(default)))
        return replace(found, rule="default")


def _is_field(node: ast.expr) -> TypeGuard[ast.Call]:
    """Whether an expression is pydantic's ``Field(...)``."""
    return isinstance(node, ast.Call) and _last_name(node.func) == "Field"


def _field(call: ast.Call) -> tuple[ast.expr | None, str]:
    """The default of pydantic's ``Field(...)``, ``None`` without one, and its description."""
    words = {k.arg: k.value for k in call.keywords}
    if call.args:
        words["default"] = call.args[0]
    default = words.get("default", words.get("default_factory"))
    required = isinstance(default, ast.Constant) and default.value is ...
    return None if required else default, _text(words.get("description"))


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def read_annotation(parameter: ParameterSpec, written: str) -> ParameterSpec:
    """The parameter with the type, enum and description of an annotation that is a text."""
    with contextlib.suppress(LiteralError):
        node = parse_expression(written)
        if isinstance(node, ast.Subscript):
            return _annotated(parameter, node, unparse)
    return _typed(parameter, written)


def _annotated(parameter: ParameterSpec, node: ast.expr, text: Callable[[ast.expr], str]) -> ParameterSpec:
    """The parameter with the type and enum of its annotation, and the description in ``Annotated[int, "The key."]``.

    ``raw_type`` is the type on one line, without the quotes of a forward reference.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return read_annotation(parameter, node.value)
    extras: list[ast.expr] = []
    if isinstance(node, ast.Subscript) and _last_name(node.value) == "Annotated" and isinstance(node.slice, ast.Tuple):
        node, *extras = node.slice.elts
    said = [_field(extra)[1] if _is_field(extra) else _text(extra) for extra in extras]
    return replace(_typed(parameter, text(node)), description=next(filter(None, said), ""))


def _last_name(node: ast.expr) -> str:
    """``B`` of ``a.B``; empty for anything but a name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _typed(parameter: ParameterSpec, raw_type: str) -> ParameterSpec:
    found = value_type(raw_type)
    return replace(parameter, raw_type=raw_type, type=replace(found, enum=None), enum=found.enum)
