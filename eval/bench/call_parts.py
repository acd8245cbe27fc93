"""The wanted call in parts, which every call format puts together in the same way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lookup.dictionary import ToolSpec
from lookup.values.grammar import value_grammar
from lookup.values.literal_values import render_value
from tooldecoding.formats.call_format import CallFormat


class Pair(NamedTuple):
    """A key with its value: ``before`` goes up to the value's text, such as its quote, ``closing`` is behind it."""

    before: str
    value: str
    closing: str

    @property
    def text(self) -> str:
        """The whole pair."""
        return "".join(self)


@dataclass(frozen=True)
class CallParts:
    """The parts of one call.

    Attributes
    ----------
    start : str
        Everything before the first key.
    pairs : mapping of str to Pair
        By key, in the format's own order.
    separator, end : str
    """

    start: str
    pairs: Mapping[str, Pair]
    separator: str
    end: str

    def text(self, order: Sequence[str]) -> str:
        """Return the call with its keys in an order."""
        return self.start + self.separator.join(self.pairs[key].text for key in order) + self.end


def call_parts(call_format: CallFormat, tool: ToolSpec, values: Mapping[str, str]) -> CallParts:
    """Return the parts of the call of a tool with these texts."""
    pairs = {key: _pair(call_format, tool, key, values[key]) for key in call_format.ordered(values)}
    start = call_format.lead + call_format.start(0) + tool.name + call_format.bracket_of(0)
    return CallParts(start, pairs, call_format.separator, call_format.end + call_format.closer)


def _pair(call_format: CallFormat, tool: ToolSpec, key: str, value: str) -> Pair:
    opener = value_grammar(tool.parameter(key), call_format.notation).opener
    closing = render_value(value, call_format.notation).removeprefix(opener + value)
    return Pair(call_format.key(key) + opener, value, closing)
