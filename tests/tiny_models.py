"""Small models with random weights and small tokenizers of each kind, made on the spot."""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

from tooldecoding.formats.known_formats import MARKS, TURN_ENDS

CORPUS = [
    "API-Request: [GetWeather(city='New York', days='3', unit='celsius')]",
    "[book.flight(origin='Paris', to=\"Rome\", passengers=[1, 2], flags={'a': True}, price=10.5)]",
    "User: what's the weather like in San Francisco tomorrow? AI: [QueryStock(stock_code='AAPL', date='2023-01-02')]",
    '{"name": "AddAgenda", "parameters": {"type": "object", "properties": {"token": {"type": "string"}}}}',
    "')] ', ')], [' =' =[' ={' ([ ', \"]}",
] * 4

SHAPES: dict[str, dict[str, Any]] = {
    "llama": {},
    "mistral": {"sliding_window": None},
    "qwen2": {},
    "gemma": {"head_dim": 16},
    "gpt_neox": {},
}
"""The architectures of law 2, with what differs from the common shape."""

OTHER_SHAPES: dict[str, dict[str, Any]] = {
    "mistral_windowed": {"model_type": "mistral", "sliding_window": 24},
    "gemma2": {"head_dim": 16, "sliding_window": 24},
    "gemma3_text": {"head_dim": 16, "sliding_window": 24, "layer_types": ["sliding_attention", "full_attention"]},
    "gpt2": {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 4096},
    "bloom": {"n_layer": 2, "n_head": 4},
}
"""Further ones: windows, learned positions, and one that refuses 4-D masks."""

RECURRENT_SHAPES: dict[str, dict[str, Any]] = {
    "lfm2": {"layer_types": ["conv", "full_attention"]},
    "mamba": {"state_size": 8},
}
"""Layers with a state that cannot go back."""


def byte_level_tokenizer(vocabulary: int = 600) -> PreTrainedTokenizerFast:
    """Byte-level BPE, as Llama 3, Qwen and GPT-2 have it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=["<s>", "</s>", "<pad>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>")


def marked_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE with the marks of all call formats and the ends of turns as special tokens."""
    tokenizer = byte_level_tokenizer()
    tokenizer.add_tokens(["｜", "▁", "年"])  # a scripted model cannot write a part of a character
    tokenizer.add_tokens(list(dict.fromkeys([*MARKS, *TURN_ENDS])), special_tokens=True)
    return tokenizer


def sentencepiece_tokenizer(byte_fallback: bool, vocabulary: int = 450) -> PreTrainedTokenizerFast:
    """BPE over pieces with ``▁`` for spaces, as Llama 2 and Mistral have it, with or without byte tokens."""
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=["<unk>", "<s>", "</s>"],
        initial_alphabet=["▁", *(chr(c) for c in range(33, 127))],
        show_progress=False,
    )
    trained.train_from_iterator([piece for line in CORPUS for piece in line.split(" ")], trainer)
    model = json.loads(trained.to_str())["model"]
    words, merges = sorted(model["vocab"], key=model["vocab"].get), [tuple(m) for m in model["merges"]]
    return of_pieces(words, merges, byte_fallback, bos_token="<s>", eos_token="</s>")


def of_pieces(
    words: Iterable[str], merges: Sequence[tuple[str, str]], byte_fallback: bool = True, **names: str
) -> PreTrainedTokenizerFast:
    """BPE over pieces of these words, numbered in their sequence, with or without byte tokens behind them."""
    words = [*words, *(f"<0x{b:02X}>" for b in range(256) if byte_fallback)]
    vocab = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.BPE(vocab, merges, byte_fallback=byte_fallback, unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    pieces: list[Any] = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence([*pieces, decoders.Strip(" ", 1, 0)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", **names)


def of_bytes(
    words: Iterable[str], merges: Sequence[tuple[str, str]] = (), pattern: str | None = None
) -> PreTrainedTokenizerFast:
    """Byte-level BPE of these words behind the bytes; no token crosses the parts of a text that a pattern finds."""
    words = dict.fromkeys([*sorted(pre_tokenizers.ByteLevel.alphabet()), *words])
    tokenizer = Tokenizer(models.BPE({word: number for number, word in enumerate(words)}, merges))
    parts = [pre_tokenizers.Split(Regex(pattern), "isolated")] if pattern else []
    letters = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*parts, letters])
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


TOKENIZERS: dict[str, Callable[[], PreTrainedTokenizerFast]] = {
    "byte level": byte_level_tokenizer,
    "marks": marked_tokenizer,
    "pieces and bytes": partial(sentencepiece_tokenizer, True),
}


def tiny_model(shape: str, vocabulary: int, seed: int = 0) -> PreTrainedModel:
    """A model of two layers and width 64 with random weights, fp32."""
    changes = dict((SHAPES | OTHER_SHAPES | RECURRENT_SHAPES)[shape])
    common = {
        "vocab_size": vocabulary,
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        "initializer_range": 0.3,
    }
    model_type = changes.pop("model_type", shape)
    if shape in ("gpt2", "bloom", "gpt_neox", "mamba"):
        common.pop("num_key_value_heads")
    if shape == "mamba":  # it has no limit of positions
        common.pop("max_position_embeddings")
    torch.manual_seed(seed)
    model: PreTrainedModel = AutoModelForCausalLM.from_config(AutoConfig.for_model(model_type, **common | changes))
    return model.eval()


def saved(
    folder: Path, tokenizer: PreTrainedTokenizerFast, shape: str = "llama", vocabulary: int = 0, config: Any = None
) -> Path:
    """A folder with a tokenizer, and random weights of a shape or a configuration."""
    tokenizer.save_pretrained(folder)
    if config is None:
        tiny_model(shape, vocabulary or len(tokenizer)).save_pretrained(folder)
    else:
        config.vocab_size = len(tokenizer)
        AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return folder
