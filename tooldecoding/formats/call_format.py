"""How a call is written: pieces of text around names, keys and values, rendered and read back.

Each format has a file of its own in this folder, with the reader that decides which texts are valid.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lookup.dictionary import ParameterSpec, ToolSpec
from lookup.errors import LiteralError, ToolDecodingError
from lookup.values.literal_reader import read_literal
from lookup.values.literal_values import read_value, render_value
from lookup.values.notations import Notation
from tooldecoding.formats.reading import Reader


class CallSyntaxError(ToolDecodingError):
    """Text that is not a call of the given tools in this format."""


@dataclass(frozen=True)
class Call:
    """A tool name with its arguments, key -> Python value, in the sequence of the text."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class CallFormat:
    """The pieces of a call format: ``opener name bracket key value separator key value end closer``.

    Attributes
    ----------
    name : str
        Its name in ``CALL_FORMATS``.
    notation : str
        How values are written (``lookup.values.grammar``).
    parallel : bool
        Whether several calls may stand between opener and closer, with separators between them.
    reader : callable
        Decides which texts are valid calls (``tooldecoding.formats.reading``).
    opener, closer : str
        The text around all calls. When the model writes the opener, it calls a tool.
    bracket, end : str
        The text around the arguments of a call.
    separator : str
        The text between two arguments, and between two calls.
    write_key : callable
        Name of a key -> the text before its value.
    optional_spaces : bool
        Whether a model may leave out the spaces at the end of keys and separators where it writes them itself.
    """

    name: str
    notation: Notation
    parallel: bool
    reader: Reader
    opener: str = "["
    closer: str = "]"
    bracket: str = "("
    end: str = ")"
    separator: str = ", "
    write_key: Callable[[str], str] = "{}=".format
    optional_spaces: bool = False

    def key(self, name: str) -> str:
        """Return the text before the value of a key."""
        return self.write_key(name)

    def spellings(self, piece: str) -> tuple[str, ...]:
        """Return the ways in which a model may write a key or separator."""
        return (piece.rstrip(), piece) if self.optional_spaces else (piece,)

    def may_follow_value(self, text: str) -> bool:
        """Whether a token that ends a value may go on with ``text``: a separator, or the end of the call.

        The text behind these does not matter: it is not taken with the value, the model is asked for it again.
        """
        if _agree(text, self.separator):
            return True
        rest = text.removeprefix(self.end)
        return rest != text and (_agree(rest, self.closer) or _agree(rest, self.separator))

    def render_call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return one call without opener and closer: ``Name(key='value')``."""
        pairs = (self.key(k) + render_value(v, self.notation) for k, v in arguments.items())
        return f"{name}{self.bracket}{self.separator.join(pairs)}{self.end}"

    def render(self, calls: Sequence[Call]) -> str:
        """Return all calls, with opener and closer."""
        return self.opener + self.separator.join(self.render_call(c.name, c.arguments) for c in calls) + self.closer

    def parse(self, text: str, tools: Mapping[str, ToolSpec]) -> list[Call]:
        """Read calls written in this format; the inverse of ``render``.

        Names and keys are those of ``tools`` and may have any character.

        Raises
        ------
        CallSyntaxError
            With the offset of the first character that does not fit, and what was expected there.
        """
        position = _expect(text, 0, self.opener)
        calls = []
        while True:
            call, position = self._read_call(text, position, tools)
            calls.append(call)
            if self.parallel and text.startswith(self.separator, position):
                position += len(self.separator)
                continue
            position = _expect(text, position, self.closer)
            if position != len(text):
                raise _error("the end", text, position)
            return calls

    def _read_call(self, text: str, position: int, tools: Mapping[str, ToolSpec]) -> tuple[Call, int]:
        names = [n for n in tools if text.startswith(n + self.bracket, position)]
        if not names:
            raise _error(f"one of the tools {', '.join(tools)} and {self.bracket!r}", text, position)
        name = max(names, key=len)
        position += len(name) + len(self.bracket)
        arguments: dict[str, Any] = {}
        while not text.startswith(self.end, position):
            if arguments:
                position = _expect(text, position, self.separator)
            spec, position = self._read_key(text, position, tools[name])
            if spec.name in arguments:
                raise _error(f"no second {spec.name!r}", text, position)
            try:
                _, end = read_literal(text, position)
                arguments[spec.name] = read_value(text[position:end], spec, self.notation)
            except LiteralError as error:
                raise _error(error.expected, text, position) from error
            position = end
        return Call(name, arguments), position + len(self.end)

    def _read_key(self, text: str, position: int, tool: ToolSpec) -> tuple[ParameterSpec, int]:
        keys = [p for p in tool.parameters if text.startswith(self.key(p.name), position)]
        if not keys:
            raise _error(f"one of the keys of {tool.name}", text, position)
        spec = max(keys, key=lambda p: len(p.name))
        return spec, position + len(self.key(spec.name))


def _agree(one: str, other: str) -> bool:
    """Whether one text is the beginning of the other."""
    return one.startswith(other) or other.startswith(one)


def _expect(text: str, position: int, piece: str) -> int:
    if not text.startswith(piece, position):
        raise _error(repr(piece), text, position)
    return position + len(piece)


def _error(expected: str, text: str, position: int) -> CallSyntaxError:
    found = repr(text[position : position + 20]) if position < len(text) else "the end"
    return CallSyntaxError(f"expected {expected} at offset {position}, found {found}")
