"""Whether the tokenizer's own tokens of sample calls are decoded exactly, in every format."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from lookup import extract
from lookup.errors import ToolDecodingError
from tooldecoding.chat.chat import chat_request
from tooldecoding.chat.messages import read_messages
from tooldecoding.chat.tools import read_tools
from tooldecoding.decoder import ToolDecoder
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.options import DecodeOptions
from tooldecoding.request import Request
from tooldecoding.testing import SyntheticEngine
from tooldecoding.tokens.special_texts import END

_PLAIN_PROMPT: Final = "Call a tool"
_MOST_TOKENS: Final = 64
"""Tokens of a value; no sample has more."""
_SHOWN: Final = 200
"""Characters of a text in a message."""


def _tool(name: str, **properties: Mapping[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return {"type": "function", "function": {"name": name, "description": f"Run {name}.", "parameters": schema}}


_TEXT: Final = {"type": "string", "description": "A text."}
_NUMBER: Final = {"type": "integer", "description": "A number."}

TOOLS: Final[Sequence[Mapping[str, Any]]] = (
    _tool("get_weather", city=_TEXT, days=_NUMBER),
    _tool("save_note", body=_TEXT, title=_TEXT),
    _tool("set_lamp", bright={"type": "number", "description": "From 0 to 1."}, on={"type": "boolean"}),
    _tool(
        "book_trip",
        passenger={"type": "object", "properties": {"age": _NUMBER, "name": _TEXT}, "required": ["age", "name"]},
        stops={"type": "array", "items": {"type": "string"}, "description": "Towns."},
    ),
    _tool("list_notes"),
)
"""The tools, in OpenAI's form."""

CALLS: Final[Mapping[str, Sequence[Call]]] = {
    "a text and a number": [Call("get_weather", {"city": "Paris", "days": 3})],
    "quotes": [Call("save_note", {"body": 'He said "it\'s fine" \\ twice.', "title": "O'Brien"})],
    "Unicode": [Call("save_note", {"body": "naïve 東京 🙂", "title": "Ærø"})],
    "brackets and commas": [Call("save_note", {"body": "f(x), {a: [b]} <c>; d=1", "title": "a, b"})],
    "numbers": [Call("set_lamp", {"bright": 0.25, "on": False})],
    "an object and a list": [
        Call("book_trip", {"passenger": {"age": 41, "name": "Ana"}, "stops": ["Rome", "Oslo S"]})
    ],
    "no arguments": [Call("list_notes", {})],
    "two calls": [Call("get_weather", {"city": "Rome", "days": 2}), Call("list_notes", {})],
    "the same tool twice": [
        Call("get_weather", {"city": "New York", "days": 1}), Call("get_weather", {"city": "Lima", "days": 10})
    ],
}  # fmt: skip
"""What is special about the calls -> the calls."""


class PathEngine(SyntheticEngine):
    """A model that wants to write given tokens."""

    def __init__(self, vocabulary: int, wanted: Sequence[int]) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._wanted = tuple(wanted)

    def next_logits(self, tokens: tuple[int, ...]) -> NextTokenLogits:
        """Return logits that are high for the next of the wanted tokens."""
        logits = torch.zeros(self._vocabulary)
        if len(tokens) < len(self._wanted) and tokens == self._wanted[: len(tokens)]:
            logits[self._wanted[len(tokens)]] = 100.0
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
        self._wanted: Sequence[int] = ()
        self._decoder = ToolDecoder(
            model, tokenizer, engine_factory=lambda: PathEngine(len(self._table.texts), self._wanted)
        )
        self._table = self._decoder.table
        self._tools = extract(list(TOOLS))
        texts, special = self._table.texts, self._table.special.texts
        self.ends = [token for token, text in special.items() if text == END and token < len(texts) and texts[token]]
        """The tokens that end the model's turn."""

    def run(self, call_format: CallFormat) -> dict[str, Any]:
        """Decode all samples that the format can write.

        Returns how many were decoded exactly (``exact``), of how many (``tried``), and what came out otherwise first
        (``difference``, empty if nothing did).
        """
        samples = {what: calls for what, calls in CALLS.items() if call_format.parallel or len(calls) == 1}
        prompt = self.prompt(call_format, TOOLS) or _PLAIN_PROMPT
        differences = [(what, self._difference(call_format, calls, prompt)) for what, calls in samples.items()]
        wrong = [f"{what}: {difference}" for what, difference in differences if difference]
        return {"exact": len(samples) - len(wrong), "tried": len(samples), "difference": wrong[0] if wrong else ""}

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
        tokenizer = self._decoder.tokenizer
        before = tuple(tokenizer.encode(prompt, add_special_tokens=False))
        own = tuple(tokenizer.encode(prompt + text, add_special_tokens=False))
        sure = len(before) - 1 or 1  # the last token of a prompt may become a longer one
        if own[:sure] != before[:sure]:
            own = (*before, *self._table.encode_after(prompt.encode(), self._bound(text).encode()))
        self._wanted = (*own, *self.ends[:1])
        options = self._options(call_format, len(calls) + 1)
        try:
            [result] = self._decoder.run([Request(prompt, self._tools, options, special_tokens=False)])
        except ToolDecodingError as error:
            return str(error)
        decoded = before + result.token_ids
        if result.text != text:
            return f"expected {_shown(text)}, decoded {_shown(result.text)}"
        if own[: len(before)] != before or decoded == own:
            return ""
        place = next((n for n, (a, b) in enumerate(zip(own, decoded, strict=False)) if a != b), 0)
        names = [tokenizer.convert_ids_to_tokens(list(ids[place : place + 4])) for ids in (own, decoded)]
        return f"the tokenizer writes the tokens {names[0]}, decoded were {names[1]}"

    def _bound(self, text: str) -> str:
        """Return a text with the characters of special tokens."""
        for mark, character in self._table.special.characters.items():
            text = text.replace(mark, character)
        return text


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
