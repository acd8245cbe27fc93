"""Whether the tokenizer's own tokens of sample calls are decoded exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from lookup import extract
from lookup.errors import ToolDecodingError
from tooldecoding.chat.chat import chat_request
from tooldecoding.chat.messages import read_messages
from tooldecoding.chat.tools import read_tools
from tooldecoding.decoder import ToolDecoder
from tooldecoding.doctor.samples import CALLS, TOOLS
from tooldecoding.engines.engine import Engine
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.testing import SyntheticEngine
from tooldecoding.tokens.special_texts import END
from tooldecoding.tokens.token_table import TokenTable

_PLAIN_PROMPT = "Call a tool"
_MOST_TOKENS = 64
"""Tokens of a value; no sample has more."""
_SHOWN = 200
"""Characters of a text in a message."""


@dataclass(frozen=True)
class Checked:
    """The outcome of a self-check.

    Attributes
    ----------
    exact, tried : int
        How many samples were decoded exactly, of how many.
    difference : str
        What came out otherwise first; empty if nothing did.
    """

    exact: int
    tried: int
    difference: str


class PathEngine(SyntheticEngine):
    """A model that wants to write given tokens."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self.wanted: tuple[int, ...] = ()

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        """Return logits that are high for the next of the wanted tokens."""
        logits = torch.zeros(self._vocabulary)
        if len(tokens) < len(self.wanted) and tokens == self.wanted[: len(tokens)]:
            logits[self.wanted[len(tokens)]] = 100.0
        return NextTokenLogits(logits)


class SelfCheck:
    """Decodes sample calls with a model of its own over a tokenizer.

    Parameters
    ----------
    model : PreTrainedModel
        Only its configuration is used.
    tokenizer : PreTrainedTokenizerBase

    Raises
    ------
    TokenizerError
        If the tokenizer's tokens cannot be read.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        self._decoder = ToolDecoder(model, tokenizer, engine_factory=self._new_engine)
        self._wanted: tuple[int, ...] = ()
        self._tools = extract(list(TOOLS))

    @property
    def table(self) -> TokenTable:
        """The texts of the tokenizer's tokens."""
        return self._decoder.table

    def run(self, call_format: CallFormat) -> Checked:
        """Decode all samples that the format can write."""
        samples = {what: calls for what, calls in CALLS.items() if call_format.parallel or len(calls) == 1}
        prompt = self.prompt(call_format, TOOLS) or _PLAIN_PROMPT
        differences = [(what, self._difference(call_format, calls, prompt)) for what, calls in samples.items()]
        wrong = [f"{what}: {difference}" for what, difference in differences if difference]
        return Checked(len(samples) - len(wrong), len(samples), wrong[0] if wrong else "")

    def prompt(self, call_format: CallFormat, tools: Sequence[Mapping[str, Any]]) -> str:
        """Return the prompt of a question with tools, as ``chat`` gives it to the model; empty if there is none."""
        conversation = read_messages([{"role": "user", "content": "Call a tool."}])
        try:
            request = chat_request(conversation, read_tools(tools), self._options(call_format), self._decoder.tokenizer)
        except ToolDecodingError:
            return ""
        return str(request.prompt)

    def _options(self, call_format: CallFormat, max_calls: int = 1) -> DecodeOptions:
        return DecodeOptions(format=call_format.name, order_limit=1, max_calls=max_calls, max_value_tokens=_MOST_TOKENS)

    def _difference(self, call_format: CallFormat, calls: Sequence[Call], prompt: str) -> str:
        """Return how the calls came out otherwise than they are written; empty if they came out so."""
        text = call_format.lead + call_format.render(calls)
        encode = self._decoder.tokenizer.encode
        before = tuple(encode(prompt, add_special_tokens=False))
        own = tuple(encode(prompt + text, add_special_tokens=False))
        sure = len(before) - 1 or 1  # the last token of a prompt may become a longer one
        if own[:sure] != before[:sure]:
            own = (*before, *self.table.encode_after(prompt.encode(), self._bound(text).encode()))
        self._wanted = (*own, *self.ends[:1])
        options = self._options(call_format, len(calls) + 1)
        try:
            [result] = self._decoder.run([Request(prompt, self._tools, options, special_tokens=False)])
        except ToolDecodingError as error:
            return str(error)
        if result.text != text:
            return f"expected {_shown(text)}, decoded {_shown(result.text)}"
        merged = own[: len(before)] != before
        return "" if merged or before + result.token_ids == own else self._other_tokens(own, before + result.token_ids)

    @property
    def ends(self) -> list[int]:
        """The tokens that end the model's turn."""
        ends = [token for token, text in self.table.special.texts.items() if text == END]
        return [token for token in ends if token < len(self.table.texts) and self.table.texts[token]]

    def _bound(self, text: str) -> str:
        """Return a text with the characters of special tokens."""
        for mark, character in self.table.special.characters.items():
            text = text.replace(mark, character)
        return text

    def _other_tokens(self, own: Sequence[int], decoded: Sequence[int]) -> str:
        place = next((n for n, (a, b) in enumerate(zip(own, decoded, strict=False)) if a != b), 0)
        names = [self._decoder.tokenizer.convert_ids_to_tokens(list(ids[place : place + 4])) for ids in (own, decoded)]
        return f"the tokenizer writes the tokens {names[0]}, decoded were {names[1]}"

    def _new_engine(self) -> Engine:
        engine = PathEngine(len(self.table.texts))
        engine.wanted = self._wanted
        return engine


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
