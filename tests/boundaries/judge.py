"""The judge: decodes one case with a model that wants it and is noise elsewhere, and says what came otherwise."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch

from boundaries.vocabularies import own_tokens
from lookup.dictionary import MISSING, LookupDictionary, ParameterSpec, ToolSpec
from lookup.grammar.literal_values import read_value, render_value
from lookup.grammar.value_grammar import value_grammar
from tooldecoding.engines.engine import Feed
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.errors import ToolDecodingError
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS, NATIVE_FORMATS
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult
from tooldecoding.testing import SyntheticDecoder, SyntheticEngine

Against = Literal["noise", "second-choice"]
AGAINST: tuple[Against, ...] = ("noise", "second-choice")
"""What else a model likes."""
_SAMPLES = ("y", 1, 2.5, True, (), [], ["y"], {}, "", None)
_WANTED, _SECOND = 100.0, 50.0
"""Logits of the next token of the wanted text, and of a text that is the second choice; noise is N(0, 1)."""
_ROWS = 64
_LONGEST = 16


class Wanter(SyntheticEngine):
    """A model that wants the tokens of one text, and others second best; ``rows`` of noise are its scores elsewhere.

    ``left`` says where it was made to leave the wanted tokens; tokens that were only tried do not count.
    """

    def __init__(self, rows: torch.Tensor, wanted: tuple[int, ...], second: Sequence[tuple[int, ...]]) -> None:
        super().__init__()
        self._rows, self._wanted = rows, wanted
        self._paths = [*((ids, _SECOND) for ids in second), (wanted, _WANTED)]
        self.left = ""

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        logits = self._rows[hash(tokens[-_LONGEST:]) % _ROWS].clone()
        for ids, weight in self._paths:
            if len(tokens) < len(ids) and tokens == ids[: len(tokens)]:
                logits[ids[len(tokens)]] = weight
        return NextTokenLogits(logits)

    def extend(self, feeds: Sequence[Feed]) -> list[list[NextTokenLogits]]:
        for feed in feeds:
            kept = (*self._branches[feed.branch].tokens, *feed.tokens[: len(feed.tokens) - feed.speculative])
            wanted = self._wanted[: len(kept)]
            if kept != wanted and not self.left:
                self.left = f"kept the tokens {kept[-9:]} where {wanted[-9:]} were wanted"
        return super().extend(feeds)


@dataclass(frozen=True)
class Case:
    """Calls that a model wants behind a prompt, and the text behind them; whether each key is required is decided.

    Their required keys stand first and as the tools have them, so that one order decodes them.
    """

    id: str
    format: str
    tools: LookupDictionary
    calls: tuple[Call, ...]
    prompt: str
    tail: str = "\n"

    @property
    def call_format(self) -> CallFormat:
        """The call format itself."""
        return CALL_FORMATS[self.format]

    def written(self, calls: Sequence[Call]) -> str:
        """Calls as a model writes them: required keys first, in the order that the format's models know."""
        return self.call_format.joined([self.written_call(call, number) for number, call in enumerate(calls)])

    def written_call(self, call: Call, number: int) -> str:
        """One of the calls."""
        form, required = self.call_format, [p.name for p in self.tools[call.name].required]
        keys = [*form.ordered(required), *(key for key in call.arguments if key not in required)]
        pairs = [form.key(key) + render_value(call.arguments[key], form.notation) for key in keys]
        return form.call_text(call.name, pairs, number)


class Verdict(NamedTuple):
    """What came otherwise, if anything did."""

    tried: bool
    """False where the tokenizer's tokens of the whole text cannot be reached behind the prompt's."""
    miss: str | None = None


class Judge:
    """Judges cases with one vocabulary."""

    def __init__(self, name: str, decoder: SyntheticDecoder) -> None:
        self.name, self._decoder, self.table = name, decoder, decoder.table
        self._rows = torch.randn(_ROWS, len(self.table.texts), generator=torch.Generator().manual_seed(0))
        self._rows[1::2] += torch.tensor([float(min(len(text or b""), _LONGEST)) for text in self.table.texts])

    def judge(self, case: Case, against: Against = "noise") -> Verdict:
        """Decode a case and compare."""
        wanted = self._wanted(case, case.calls)
        if wanted is None:
            return Verdict(False)
        second = []
        if against == "second-choice":
            second = [ids for calls in longer_calls(case) if (ids := self._wanted(case, calls)) is not None]
            if not second:
                return Verdict(False)
        engine = Wanter(self._rows, wanted, second)
        self._decoder.engine = engine
        options = DecodeOptions(
            format=case.format,
            order_limit=1,
            max_value_tokens=len(wanted),  # a value of noise must end
            max_thinking_tokens=0,  # no look ahead whether the model thinks: the judge follows one path
            max_calls=len(case.calls) + 2,
        )
        got = ""
        try:
            [result] = self._decoder.run([Request(case.prompt, case.tools, options)])
        except (ToolDecodingError, RuntimeError) as error:
            got = str(error)
        else:
            if self._same(case, result) and not engine.left:
                return Verdict(True)
            got = ", ".join(candidate.text for call in result.calls for candidate in call.candidates)
        text = f"{case.prompt!r} + {case.written(case.calls)!r} + {case.tail!r}"
        return Verdict(True, f"{self.name} {case.id} {case.format} {against}: {text}; got {got!r}; {engine.left}")

    def _wanted(self, case: Case, calls: Sequence[Call]) -> tuple[int, ...] | None:
        """The tokenizer's own tokens; None where those of the prompt, without the last one, do not begin them."""
        end = self._decoder.tokenizer.eos_token  # a model that was trained on a format ends its turn
        tail = end if end and case.call_format in NATIVE_FORMATS else case.tail
        ids = own_tokens(self._decoder, case.prompt + case.call_format.lead + case.written(calls) + tail)
        prompt = self._decoder.tokenizer.encode(case.prompt)
        sure = len(prompt) - 1 or 1
        return ids if ids is not None and list(ids[:sure]) == list(prompt[:sure]) else None

    def _same(self, case: Case, result: DecodeResult) -> bool:
        """Candidates are what the model wrote; the result has the same calls with the keys as documented."""
        written = [candidate.text for call in result.calls for candidate in call.candidates]
        texts = [case.written_call(call, number) for number, call in enumerate(case.calls)]
        calls = [(call.voted.name, call.voted.arguments) for call in result.calls]
        return written == texts and calls == [(c.name, self._read_back(case, c)) for c in case.calls]

    def _read_back(self, case: Case, call: Call) -> dict[str, Any]:
        """Arguments as their literals are read: quoted digits are a number where one is documented."""
        notation, spec = case.call_format.notation, case.tools[call.name].parameter
        return {k: read_value(render_value(v, notation), spec(k), notation) for k, v in call.arguments.items()}


def longer_calls(case: Case) -> Iterator[tuple[Call, ...]]:
    """The calls with one unused optional key more, at each place behind the required keys where it may stand."""
    for number, call in enumerate(case.calls):
        tool = case.tools[call.name]
        required = len(tool.required)
        for spec in tool.optional:
            if spec.name in call.arguments:
                continue
            value = sample_value(spec, case.call_format)
            if value is MISSING:
                continue
            pairs = list(call.arguments.items())
            for place in range(required, len(pairs) + 1):
                longer = Call(call.name, dict([*pairs[:place], (spec.name, value), *pairs[place:]]))
                yield (*case.calls[:number], longer, *case.calls[number + 1 :])


def sample_value(spec: ParameterSpec, call_format: CallFormat) -> Any:
    """A value that the documentation admits; MISSING if none is at hand."""
    default = () if spec.default is MISSING else (spec.default,)
    for value in (*(spec.enum or ()), *default, *_SAMPLES):
        if is_admitted(value, spec, call_format):
            return value
    return MISSING


def is_admitted(value: Any, spec: ParameterSpec, call_format: CallFormat) -> bool:
    """Whether the format's literal of a value is one that the documentation admits."""
    grammar = value_grammar(spec, call_format.notation)
    text = render_value(value, call_format.notation)
    return grammar.complete(text) and grammar.possible(text)


def is_admitted_call(call: Call, tool: ToolSpec, call_format: CallFormat) -> bool:
    """Whether a call has all required keys, no unknown one, and admitted values."""
    specs = {p.name: p for p in tool.parameters}
    return (
        all(p.name in call.arguments for p in tool.required)
        and call.arguments.keys() <= specs.keys()
        and all(is_admitted(value, specs[key], call_format) for key, value in call.arguments.items())
    )
