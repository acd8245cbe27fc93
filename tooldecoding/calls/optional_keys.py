"""Optional keys: the model chooses among the unused ones and the end of the call (paper, section 3.1)."""

from tooldecoding.calls.prepared_tools import PreparedTool
from tooldecoding.calls.value_decoder import ValueDecoder
from tooldecoding.engines.steps import Steps
from tooldecoding.tokens.branch import Branch
from voting import CandidateValue


def decode_optional_keys(
    branch: Branch, tool: PreparedTool, values: tuple[CandidateValue, ...], decoder: ValueDecoder
) -> Steps[tuple[CandidateValue, ...]]:
    """Decode optional keys until the model ends the call; returns ``values`` and those of the optional keys."""
    unused = list(tool.spec.optional)
    while unused:
        number, _ = yield from branch.choose(tool.optional_keys.of(unused, first=not values))
        if number == len(unused):
            return values
        value = yield from decoder.decode(branch, unused.pop(number))
        values = (*values, value)
    branch.write(tool.call_format.end_of(not values))
    return values
