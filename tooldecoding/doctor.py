"""What ``tooldecoding doctor`` finds out about a model before the first decode, and what needs the user's attention."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch
from transformers import PreTrainedTokenizerBase

from lookup import extract
from lookup.errors import ToolDecodingError
from tooldecoding.chat.chat import chat_request
from tooldecoding.chat.detect_format import printable
from tooldecoding.chat.messages import read_messages
from tooldecoding.chat.template_profile import profile_of
from tooldecoding.chat.templates import PRINTED
from tooldecoding.chat.tools import read_tools
from tooldecoding.decoding.request_decoder import end_ids
from tooldecoding.engines.choose_engine import make_engines
from tooldecoding.engines.engine import Engine
from tooldecoding.engines.logits import NextTokenLogits
from tooldecoding.errors import ModelError, TokenizerError
from tooldecoding.formats.call_format import Call, CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS, TURN_ENDS
from tooldecoding.models.llama_cpp import LlamaCppModel
from tooldecoding.models.sources import Model, find_source, input_device, weights_type
from tooldecoding.models.upstream import UpstreamModel
from tooldecoding.options import DecodeOptions
from tooldecoding.options.decode_options import AUTO, Strategy
from tooldecoding.request import Request
from tooldecoding.testing import SyntheticDecoder, SyntheticEngine
from tooldecoding.tokens.token_texts import END

_MOST_TOKENS: Final = 64
"""Tokens of a value; no sample has more."""

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
"""What is special about the sample calls -> the calls."""

_SCHEMAS: Final = {
    str: {"type": "string", "description": "A text."},
    int: {"type": "integer", "description": "A number."},
    float: {"type": "number", "description": "From 0 to 1."},
    bool: {"type": "boolean"},
}


def _schema(value: Any) -> Mapping[str, Any]:
    """Return the JSON Schema of values like this one, with all keys required."""
    if isinstance(value, Mapping):
        properties = {key: _schema(inner) for key, inner in value.items()}
        return {"type": "object", "properties": properties, "required": [*value]}
    return {"type": "array", "items": _schema(value[0])} if isinstance(value, list) else _SCHEMAS[type(value)]


_TOOLS: Final = [
    {"type": "function", "function": {"name": name, "description": f"Run {name}.", "parameters": _schema(arguments)}}
    for name, arguments in {call.name: call.arguments for calls in CALLS.values() for call in calls}.items()
]
"""The tools of the sample calls, in OpenAI's form."""


class _PathEngine(SyntheticEngine):
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


def self_check(decoder: SyntheticDecoder, call_format: CallFormat) -> dict[str, Any]:
    """Decode all sample calls that the format can write, in the tokenizer's own tokens.

    Returns how many were decoded exactly (``exact``), of how many (``tried``), and what came out otherwise first
    (``difference``, empty if nothing did).
    """
    samples = {what: calls for what, calls in CALLS.items() if call_format.parallel or len(calls) == 1}
    prompt = _prompt(decoder, call_format) or "Call a tool"
    differences = [(what, _difference(decoder, call_format, calls, prompt)) for what, calls in samples.items()]
    wrong = [f"{what}: {difference}" for what, difference in differences if difference]
    return {"exact": len(samples) - len(wrong), "tried": len(samples), "difference": wrong[0] if wrong else ""}


def _prompt(decoder: SyntheticDecoder, call_format: CallFormat, tools: int | None = None) -> str:
    """Return the prompt of a question with so many tools, as ``chat`` gives it; empty if there is none."""
    conversation = read_messages([{"role": "user", "content": "Call a tool."}])
    try:
        options = _options(call_format, 1)
        return str(chat_request(conversation, read_tools(_TOOLS[:tools]), options, decoder.tokenizer).prompt)
    except ToolDecodingError:
        return ""


def _ends(decoder: SyntheticDecoder) -> list[int]:
    """Return the tokens that end the model's turn."""
    texts, special = decoder.table.texts, decoder.table.special.texts
    return [token for token, text in special.items() if text == END and token < len(texts) and texts[token]]


def _own_call(decoder: SyntheticDecoder, engine: Engine) -> str:
    """Return how the model by itself begins a call that a question asks for; what it writes instead if it calls none.

    That may be another way than the one in which its chat template writes calls (``tooldecoding.formats.dialects``).
    """
    options = DecodeOptions(order_limit=1, max_value_tokens=_MOST_TOKENS, max_text_tokens=_MOST_TOKENS)
    messages = [{"role": "user", "content": "What will the weather be in Paris for the next 3 days?"}]
    decoder.engine = engine  # that of the model itself
    try:
        result = decoder.chat(messages, _TOOLS[:1], "auto", options=options, max_thinking_tokens=0).result
    except ToolDecodingError as error:
        return f"not asked: {error}"
    if not result.calls:
        return f"no call, but {printable(result.content)}"
    form = result.call_format
    return f"{form.name}: {printable(form.opener + result.calls[0].name + form.bracket)}"


def _turn_ends(decoder: SyntheticDecoder) -> list[dict[str, Any]]:
    """Return the tokens that end the model's turn, each with all that say so."""
    own, configured, added = decoder.tokenizer.eos_token_id, end_ids(decoder.model), decoder.table.special.characters
    found = []
    for end in _ends(decoder):
        text = str(decoder.tokenizer.convert_ids_to_tokens(end))
        sources = {
            "tokenizer": end == own,
            "generation configuration": end in configured,
            "family": text in TURN_ENDS and text in added,
        }
        found.append({"text": text, "id": end, "from": ", ".join(name for name, says in sources.items() if says)})
    return found


def _difference(decoder: SyntheticDecoder, call_format: CallFormat, calls: Sequence[Call], prompt: str) -> str:
    """Return how the calls came out otherwise than they are written; empty if they came out so."""
    text = call_format.lead + call_format.render(calls)
    tokenizer, table = decoder.tokenizer, decoder.table
    before = tuple(tokenizer.encode(prompt, add_special_tokens=False))
    own = tuple(tokenizer.encode(prompt + text, add_special_tokens=False))
    sure = len(before) - 1 or 1  # the last token of a prompt may become a longer one
    if own[:sure] != before[:sure]:
        own = (*before, *table.encode_after(prompt.encode(), table.special.bound(text).encode()))
    decoder.engine = _PathEngine(len(table.texts), (*own, *_ends(decoder)[:1]))
    options = _options(call_format, len(calls) + 1)
    try:
        [result] = decoder.run([Request(prompt, extract(_TOOLS), options, special_tokens=False)])
    except ToolDecodingError as error:
        return str(error)
    decoded = before + result.token_ids
    if result.text != text:
        return f"expected {printable(text)}, decoded {printable(result.text)}"
    if own[: len(before)] != before or decoded == own:
        return ""
    place = next((n for n, (a, b) in enumerate(zip(own, decoded, strict=False)) if a != b), 0)
    names = [tokenizer.convert_ids_to_tokens(list(ids[place : place + 4])) for ids in (own, decoded)]
    return f"the tokenizer writes the tokens {names[0]}, decoded were {names[1]}"


def _options(call_format: CallFormat, max_calls: int) -> DecodeOptions:
    return DecodeOptions(format=call_format.name, order_limit=1, max_calls=max_calls, max_value_tokens=_MOST_TOKENS)


def examine(
    path: str, model: Model, tokenizer: PreTrainedTokenizerBase, strategy: Strategy = "auto", call_format: str = "auto"
) -> dict[str, Any]:
    """Return what there is to know about a loaded model, as JSON; docs/models.md describes it.

    A token is an object of ``text`` and ``id``; ``id`` is None for a text that the tokenizer has no token of its own
    for. One that ends a turn has ``from``, too: what says so. ``context`` is None without a limit, ``format`` if it is
    unknown (``format_reason`` says why), ``self_check`` without format or tokens. ``own_call`` is how the model begins
    a call by itself, empty if it was not asked. ``problems`` has one line each, with what to do.

    ModelError if ``packed`` is asked for and the model does not support it.

    Parameters
    ----------
    path : str
        How the model is called.
    strategy, call_format : str
        As the user wants to decode; ``auto`` finds out.
    """
    config = model.config.get_text_config()
    factory = make_engines(model, strategy)
    found, reason = _format(tokenizer, call_format)
    tokenizer_error, ends, prompt, checked, own = "", list[dict[str, Any]](), "", None, ""
    try:
        decoder = SyntheticDecoder(model, tokenizer)
        ends = _turn_ends(decoder)
        if found is not None:
            checked, prompt = self_check(decoder, found), _prompt(decoder, found, 1)
            own = _own_call(decoder, factory()) if prompt else ""
    except TokenizerError as error:
        tokenizer_error = str(error)
    problems = [error for error in (tokenizer_error, "" if found else reason) if error]
    if not ends and not tokenizer_error:
        problems.append("no token ends the model's turn; name one as eos_token in the tokenizer's configuration")
    if len(tokenizer) > config.vocab_size:
        problems.append(
            f"the tokenizer has {len(tokenizer)} tokens, but the model only {config.vocab_size} logits; "
            "use the tokenizer that belongs to the model"
        )
    if checked is not None and checked["difference"]:
        problems.append(
            "{wrong} of {tried} sample calls are not decoded as the tokenizer writes them; try another --format, or "
            "report this: {difference}".format(wrong=checked["tried"] - checked["exact"], **checked)
        )
    ids = {str(added.content): token for token, added in tokenizer.added_tokens_decoder.items()}
    return {
        "model": path,
        "architecture": type(model).__name__,
        "model_type": str(config.model_type),
        "parameters": model.num_parameters(),
        "dtype": str(model.dtype).removeprefix("torch."),
        "device": str(input_device(model)),
        "quantized": _quantized(path, model),
        "engine": "recurrent" if factory.recurrent else factory.strategy,
        "engine_reason": factory.reason,
        "context": getattr(config, "max_position_embeddings", None),
        "vocabulary": config.vocab_size,
        "tokenizer": type(tokenizer).__name__,
        "tokens": len(tokenizer),
        "tokenizer_error": tokenizer_error,
        "bos": _token(tokenizer, tokenizer.bos_token_id),
        "eos": _token(tokenizer, tokenizer.eos_token_id),
        "turn_ends": ends,
        "chat_template": bool(tokenizer.chat_template),
        "prints_tools": profile_of(tokenizer).prints_tools,
        "prompt": prompt,
        "format": found.name if found else None,
        "format_reason": reason,
        "marks": [{"text": mark, "id": ids.get(mark)} for mark in (found.marks if found else ())],
        "own_call": own,
        "self_check": checked,
        "problems": problems,
    }


def _format(tokenizer: PreTrainedTokenizerBase, name: str) -> tuple[CallFormat | None, str]:
    """Return the format and what shows it; None, and why it is unknown."""
    try:
        found = profile_of(tokenizer).detected
    except ModelError as error:
        if name != AUTO:
            return CALL_FORMATS[name], "it was asked for"
        if profile_of(tokenizer).leaves_out_tools:
            return CALL_FORMATS[PRINTED], "the default for chat templates that print no tools"
        return None, str(error)
    if name in (AUTO, found.call_format.name):
        return found
    return CALL_FORMATS[name], f"it was asked for, but {found.reason}, as {found.call_format.name} is"


def _quantized(path: str, model: Model) -> str:
    """Return what the weights were quantised with; empty if they were not."""
    source = find_source(path)
    if isinstance(model, LlamaCppModel):
        return "as the file has them"
    if isinstance(model, UpstreamModel):
        return ""
    if source.gguf_file is not None and (Path(source.path) / source.gguf_file).is_file():
        return f"dequantized from GGUF ({weights_type(Path(source.path) / source.gguf_file)})"
    method = getattr(getattr(model.config, "quantization_config", None), "quant_method", "")
    return f"quantized with {getattr(method, 'value', method)}" if method else ""


def _token(tokenizer: PreTrainedTokenizerBase, token: Any) -> dict[str, Any] | None:
    return {"text": str(tokenizer.convert_ids_to_tokens(token)), "id": token} if isinstance(token, int) else None
