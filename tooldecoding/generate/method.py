"""Tool Decoding as a decoding method of transformers: ``model.generate(**inputs, custom_generate=…)``."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import BatchEncoding, GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.generation.streamers import BaseStreamer
from transformers.utils import ModelOutput

from lookup import LookupDictionary
from tooldecoding.chat.chat import chat_request
from tooldecoding.chat.messages import read_messages
from tooldecoding.chat.template_profile import profile_of
from tooldecoding.chat.templates import chat_format
from tooldecoding.chat.tools import read_tools
from tooldecoding.decoder import ToolDecoder
from tooldecoding.decoding.prompt_decoder import ends_as_chat
from tooldecoding.errors import ConfigError
from tooldecoding.generate.arguments import Limit, asked_of_generate, most_tokens, refuse_unheld
from tooldecoding.options import DecodeOptions, Strategy, changed, demand_full
from tooldecoding.options.decode_options import AUTO, demand_arguments
from tooldecoding.request import Request, Tools, as_lookup
from tooldecoding.result import DecodeResult
from tooldecoding.tokens.guarded_text import encoded


@dataclass
class ToolDecodingOutput(ModelOutput):
    """The output of ``generate`` with ``return_dict_in_generate=True``.

    Attributes
    ----------
    sequences : torch.LongTensor
        Shape (batch, length): prompt and decoded text, padded on the right.
    results : tuple of DecodeResult
        One for each prompt.
    """

    sequences: torch.Tensor | None = None
    results: tuple[DecodeResult, ...] | None = None


@dataclass(eq=False, repr=False)
class ToolDecodingMethod:
    """The decoding method that ``tool_decoding`` makes, for ``generate(…, custom_generate=…)``."""

    _tokenizer: PreTrainedTokenizerBase
    _lookup: LookupDictionary
    _strategy: Strategy
    _options: DecodeOptions
    _streamer: BaseStreamer | None
    _prompt_cache_mb: int
    _decoders: WeakSet[ToolDecoder] = field(default_factory=WeakSet, init=False)

    def __call__(
        self,
        model: PreTrainedModel,
        input_ids: torch.Tensor,
        generation_config: GenerationConfig | None = None,
        **model_kwargs: Any,
    ) -> torch.Tensor | ToolDecodingOutput:
        """Decode. ``generate`` calls this.

        ToolDecodingError as ``ToolDecoder.run``; ConfigError for an argument of ``generate`` that is not supported.
        """
        asked, default_length = asked_of_generate(model)
        config = GenerationConfig() if generation_config is None else generation_config
        own = asked.get("streamer")
        streamer = self._streamer if own is None else own
        with ExitStack() as stack:
            if streamer is not None:
                stack.callback(streamer.end)  # after an error too: a reader may wait for it
            refuse_unheld(asked, config, model)
            if streamer is not None and len(input_ids) > 1:
                raise ConfigError(f"a streamer takes one prompt, got {len(input_ids)}; give one, or leave it out")
            if streamer is not None and own is None:
                streamer.put(input_ids.cpu())  # generate sends the prompt to a streamer of its own
            stack.enter_context(_evaluating(model))
            mask = model_kwargs.get("attention_mask")
            kept = torch.ones_like(input_ids) if mask is None else mask
            rows = [row[keep.bool()].tolist() for row, keep in zip(input_ids, kept, strict=True)]
            limit = most_tokens(config, default_length, input_ids.shape[1])
            results = self._decode(model, rows, limit, config)
            written = _within(results, limit)
            if streamer is not None:
                for token in written[0]:
                    streamer.put(torch.tensor([token]))
        sequences = torch.cat([input_ids, self._padded(written, config).to(input_ids)], dim=1)
        if config.return_dict_in_generate:
            return ToolDecodingOutput(sequences=sequences, results=tuple(results))
        return sequences

    def clear(self) -> None:
        """Clear the prefix caches of all models."""
        for decoder in self._decoders:
            decoder.prompt_cache.clear()

    def _decode(
        self, model: PreTrainedModel, rows: list[list[int]], limit: Limit | None, config: GenerationConfig
    ) -> list[DecodeResult]:
        decoder = self._decoder(model)
        _demand_special_ends(config.eos_token_id, model.generation_config.eos_token_id, decoder)
        options = self._options
        if limit:
            options = replace(options, max_text_tokens=min(options.max_text_tokens, limit.tokens))
        return decoder.run([self._request(options, row, decoder) for row in rows])

    def _request(self, options: DecodeOptions, row: Sequence[int], decoder: ToolDecoder) -> Request:
        """Return the request for a prompt; ``auto`` is the chat template's format, if it has written the prompt."""
        if options.format != AUTO or not self._is_chat(row, decoder):
            return Request(row, self._lookup, options)
        options = replace(options, format=chat_format(options, self._tokenizer))
        return Request(row, self._lookup, options, dialects=True)

    def _is_chat(self, row: Sequence[int], decoder: ToolDecoder) -> bool:
        if ends_as_chat(row, decoder.table):
            return True
        return decoder.table.join(row).decode(errors="replace").endswith(profile_of(self._tokenizer).openings)

    def _decoder(self, model: PreTrainedModel) -> ToolDecoder:
        """Return the model's decoder. It lives as long as both the model and this method."""
        kept = vars(model).get("_tool_decoders")
        if not isinstance(kept, _Decoders):
            kept = _Decoders()
            object.__setattr__(model, "_tool_decoders", kept)
        decoder = kept.get(self)
        size = model.config.get_text_config().vocab_size
        if decoder is None or decoder.model is not model or len(decoder.table.texts) != size:
            decoder = ToolDecoder(model, self._tokenizer, self._strategy, self._options, self._prompt_cache_mb)
            kept[self] = decoder
            self._decoders.add(decoder)
        return decoder

    def _padded(self, written: Sequence[list[int]], config: GenerationConfig) -> torch.Tensor:
        """Return shape (batch, longest), padded on the right."""
        pads = (config.pad_token_id, self._tokenizer.pad_token_id, self._tokenizer.eos_token_id, 0)
        pad = next(p for p in pads if p is not None)
        rows = [torch.tensor(row, dtype=torch.long) for row in written]
        return pad_sequence(rows, batch_first=True, padding_value=pad)


class _Decoders(WeakKeyDictionary[ToolDecodingMethod, ToolDecoder]):
    """The decoders of one model. They are stored on the model, because they refer to it and must not outlive it."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Decoders":
        return _Decoders()

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return dict, ()  # a saved model has no decoders


def tool_decoding(
    tokenizer: PreTrainedTokenizerBase,
    tools: Tools,
    strategy: Strategy = "auto",
    *,
    streamer: BaseStreamer | None = None,
    prompt_cache_mb: int = 0,
    options: DecodeOptions | None = None,
    **fields: Any,
) -> ToolDecodingMethod:
    """Return a method for ``model.generate(**inputs, custom_generate=tool_decoding(tokenizer, tools))``.

    ``generate`` passes no tokenizer to a custom method, so it is bound here. Arguments of ``generate`` are obeyed or
    refused (docs/transformers-generate.md has the table). Settings that only the model's ``generation_config.json``
    makes, such as sampling, have no effect. The model's mode (``train`` or ``eval``) is restored afterwards.

    Parameters
    ----------
    tools : documentation text, parsed documentation, or LookupDictionary
    streamer : BaseStreamer, optional
        As in ``generate``: it gets the prompt, then the tokens one by one after the vote, then the end.
    prompt_cache_mb : int
        Most memory, in MiB, for KV caches of former prompts. None by default: ``generate`` may be called during
        training, and changes of weights through ``.data`` go unnoticed. ``clear()`` of the method clears the cache.
    **fields
        Fields of ``DecodeOptions`` that differ from ``options``.

    Returns
    -------
    ToolDecodingMethod
        Returns sequences of shape (batch, length), or ``ToolDecodingOutput`` with ``return_dict_in_generate``.
        Padding of the prompts, left or right, is ignored.
    """
    demand_arguments(tokenizer, strategy, prompt_cache_mb)
    options = changed(DecodeOptions(), fields, options)
    demand_full(options, "generate")
    return ToolDecodingMethod(tokenizer, as_lookup(tools), strategy, options, streamer, prompt_cache_mb)


def chat_inputs(
    tokenizer: PreTrainedTokenizerBase,
    messages: Any,
    tools: Tools | None = None,
    options: DecodeOptions | None = None,
    **fields: Any,
) -> BatchEncoding:
    """Return the inputs of ``generate`` for a conversation: the prompt that ``ToolDecoder.chat`` makes.

    The tools stand in it also where the chat template prints none. A decoding method without a ``format`` writes calls
    as this prompt asks for.

    ToolDecodingError as ``ToolDecoder.chat``.

    Parameters
    ----------
    messages : sequence of mappings
        In OpenAI's shape, see ``tooldecoding.chat.messages``.
    tools : optional
        As in ``ToolDecoder.chat``.
    **fields
        Fields of ``DecodeOptions``, such as ``documentation="signatures"``; give ``format`` to the method as well.

    Returns
    -------
    BatchEncoding
        ``input_ids`` and ``attention_mask``, each of shape (1, length).
    """
    options = changed(DecodeOptions(), fields, options)
    request = chat_request(read_messages(messages), read_tools(tools), options, tokenizer)
    ids = torch.tensor([encoded(request.text, tokenizer)])
    return BatchEncoding({"input_ids": ids, "attention_mask": torch.ones_like(ids)})


@contextmanager
def _evaluating(model: PreTrainedModel) -> Iterator[None]:
    """Set all modules to evaluation mode inside the block; restore each module's mode after it."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


def _within(results: Sequence[DecodeResult], limit: Limit | None) -> list[list[int]]:
    """Return the tokens of each result. Text without a call is cut at the limit, as ``generate`` does.

    ConfigError if a call exceeds the limit: a call that is cut off is invalid.
    """
    for number, result in enumerate(results):
        if limit and result.calls and len(result.token_ids) > limit.tokens:
            raise ConfigError(
                f"what is written behind prompt {number} has {len(result.token_ids)} tokens, but {limit.said} leaves "
                f"{limit.tokens}, and a call that is cut off is none; raise max_new_tokens, or set max_value_tokens, "
                "max_text_tokens or max_calls of tool_decoding lower"
            )
    return [list(r.token_ids[: limit.tokens] if limit else r.token_ids) for r in results]


def _demand_special_ends(asked: Any, own: Any, decoder: ToolDecoder) -> None:
    """Refuse end-of-sequence ids of ordinary tokens: text ends at any special token, a call where its format ends."""
    ends, known = ([] if ids is None else torch.as_tensor(ids).flatten().tolist() for ids in (asked, own))
    for token in ends:
        if token not in known and not decoder.table.is_special(token):
            text = decoder.tokenizer.decode([token])
            raise ConfigError(
                f"generate(…, eos_token_id={token}) cannot be held by tool_decoding: the token writes {text!r}, but a "
                "call ends where its format ends, and free text at any special token; leave it out"
            )
