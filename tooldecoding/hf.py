"""Tool Decoding as a decoding method of transformers: ``model.generate(**inputs, custom_generate=…)``."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import ModelOutput

from tooldecoding.decoder import Request, ToolDecoder, Tools, as_lookup
from tooldecoding.options import DecodeOptions, Strategy, changed
from tooldecoding.result import DecodeResult


@dataclass
class ToolDecodingOutput(ModelOutput):
    """What ``generate`` returns with ``return_dict_in_generate=True``.

    Attributes
    ----------
    sequences : torch.LongTensor
        Shape (batch, length): prompt and decoded text, padded on the right.
    results : tuple of DecodeResult
        One for each prompt.
    """

    sequences: torch.Tensor | None = None
    results: tuple[DecodeResult, ...] | None = None


def tool_decoding(
    tokenizer: PreTrainedTokenizerBase, tools: Tools, strategy: Strategy = "auto", **fields: Any
) -> Callable[..., torch.Tensor | ToolDecodingOutput]:
    """A callable for ``model.generate(**inputs, custom_generate=tool_decoding(tokenizer, tools))``.

    ``generate`` hands no tokenizer to a custom method, so it is bound here. What ``generate`` was told of
    lengths, sampling, beams and stopping does not apply: a call ends where its format ends.

    Parameters
    ----------
    tools : documentation text, parsed documentation, or LookupDictionary
    **fields
        Fields of ``DecodeOptions``.

    Returns
    -------
    callable
        Gives sequences of shape (batch, length), or ``ToolDecodingOutput`` where ``generate`` was asked
        for a dictionary. Left and right padding of the prompts is left out of the decode.
    """
    lookup = as_lookup(tools)
    options = changed(DecodeOptions(), fields)
    decoders: dict[int, ToolDecoder] = {}

    def generate(
        model: PreTrainedModel,
        input_ids: torch.Tensor,
        generation_config: Any = None,
        **model_kwargs: Any,
    ) -> torch.Tensor | ToolDecodingOutput:
        decoder = decoders.get(id(model)) or ToolDecoder(model, tokenizer, strategy, options)
        decoders[id(model)] = decoder
        rows = input_ids.tolist()
        attention_mask = model_kwargs.get("attention_mask")
        if attention_mask is not None:
            kept = attention_mask.bool().tolist()
            rows = [[t for t, k in zip(row, keep, strict=True) if k] for row, keep in zip(rows, kept, strict=True)]
        results = decoder.run([Request(row, lookup, options) for row in rows])
        written = [list(r.token_ids) for r in results]
        width = max(len(w) for w in written)
        pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
        filled = [w + [pad or 0] * (width - len(w)) for w in written]
        behind = torch.tensor(filled, dtype=input_ids.dtype, device=input_ids.device)
        sequences = torch.cat([input_ids, behind], dim=1)
        if generation_config is not None and generation_config.return_dict_in_generate:
            return ToolDecodingOutput(sequences=sequences, results=tuple(results))
        return sequences

    return generate
