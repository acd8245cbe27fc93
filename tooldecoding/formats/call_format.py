"""Call formats: how a call is written and read back.

A format is made of pieces of text around names, keys and values. ``api-bank`` quotes every value,
``pythonic`` (BFCL's prompt mode) writes Python literals and allows several calls in one list.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lookup.dictionary import ParameterSpec, ToolSpec
from lookup.errors import LiteralError, ToolDecodingError
from lookup.values.literal_reader import read_literal
from lookup.values.literal_values import read_value, render_value
from lookup.values.notations import Notation
from tooldecoding.formats.readers import ReadCall, Reader, UnreadableCallError, read_api_bank, read_pythonic


class CallSyntaxError(ToolDecodingError):
    """Text that is not a call of the given tools in this format."""


@dataclass(frozen=True)
class Call:
    """A tool name with its arguments, key -> Python value, in the sequence of the text."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class CallFormat:
    """The fixed pieces of a format; see ``CALL_FORMATS``.

    Attributes
    ----------
    opener, closer : str
        Around all calls; the model's ``opener`` starts tool mode.
    parallel : bool
        Whether several calls may stand between them.
    notation : str
        How values are written (``lookup.values.grammar``).
    reader : callable
        Reads calls independently of this class (``tooldecoding.formats.readers``); it decides which are valid.
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

    def key(self, name: str) -> str:
        """The text before a value."""
        return f"{name}="

    def may_follow_value(self, text: str) -> bool:
        """Whether a token that ends a value may go on with ``text``: a separator, or the end of the call.

        What follows these plays no part: it is not settled with the value, but asked for anew.
        """
        if _agree(text, self.separator):
            return True
        rest = text.removeprefix(self.end)
        return rest != text and (_agree(rest, self.closer) or _agree(rest, self.separator))

    def render_call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """One call without the opener and closer: ``Name(key='value')``."""
        pairs = (self.key(k) + render_value(v, self.notation) for k, v in arguments.items())
        return f"{name}{self.bracket}{self.separator.join(pairs)}{self.end}"

    def render(self, calls: Sequence[Call]) -> str:
        """All calls, with opener and closer."""
        return self.opener + self.separator.join(self.render_call(c.name, c.arguments) for c in calls) + self.closer

    def parse(self, text: str, tools: Mapping[str, ToolSpec]) -> list[Call]:
        """Read calls written in this format; the inverse of ``render``.

        Names and keys are those of ``tools``, so they may hold any character.

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

    def unread(self, text: str, calls: Sequence[Call]) -> str:
        """Why the format's reader does not read the calls in their ``text``; empty if it does, value for value."""
        try:
            found = self.reader(text)
        except UnreadableCallError as error:
            reason = str(error)
        else:
            if self._written(found) == self._written([(c.name, [*c.arguments.items()]) for c in calls]):
                return ""
            reason = "it reads other names, keys or values"
        names = [part for call in calls for part in self._uncarried(call.name, call.arguments)]
        cause = f"it cannot carry {'; '.join(dict.fromkeys(names))}" if names else reason
        return f"the reader of the format {self.name} does not read this call back: {cause}"

    def _written(self, calls: Iterable[ReadCall]) -> list[tuple[str, list[tuple[str, str]]]]:
        """Calls with their values as the format writes them, which tells types apart but not tuples from arrays."""
        return [(name, [(key, render_value(value, self.notation)) for key, value in pairs]) for name, pairs in calls]

    def unreadable(self, tools: Mapping[str, ToolSpec]) -> list[str]:
        """What the format cannot carry: a line for each name of a tool or key with which its reader reads no call.

        Each names the formats that can carry it. Known before anything is decoded; calls with other names and keys are
        read back whatever their values.
        """
        return [
            line for tool in tools.values() for line in self._uncarried(tool.name, [p.name for p in tool.parameters])
        ]

    def _uncarried(self, tool: str, keys: Iterable[str]) -> Iterator[str]:
        """The names that the format cannot carry, with the formats that can."""
        parts = [(f"the tool name {tool!r}", (tool, None)), *((f"the key {k!r} of {tool}", ("f", k)) for k in keys)]
        for what, (name, key) in parts:
            if not _carries(self, name, key):
                able = [form.name for form in CALL_FORMATS.values() if _carries(form, name, key)]
                yield f"{what} ({', '.join(able) or 'no format'} can carry it)"

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


@lru_cache(maxsize=1 << 16)
def _carries(form: CallFormat, name: str, key: str | None) -> bool:
    """Whether the reader of a format finds a tool's name, and a key if there is one, as they are."""
    arguments = {} if key is None else {key: "value"}
    try:
        return form.reader(form.render([Call(name, arguments)])) == [(name, [*arguments.items()])]
    except UnreadableCallError:
        return False


CALL_FORMATS: Mapping[str, CallFormat] = {
    "api-bank": CallFormat("api-bank", "quoted", parallel=False, reader=read_api_bank),
    "pythonic": CallFormat("pythonic", "python", parallel=True, reader=read_pythonic),
}
"""Name -> format."""
