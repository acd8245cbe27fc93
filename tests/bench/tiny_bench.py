"""A tiny model of random weights, its prompts, and the methods that decode them."""

from functools import cache
from typing import Any

import torch

from eval.bench.generate_method import GenerateMethod
from eval.bench.method import Method
from eval.bench.shapes import SHAPES, random_model
from eval.bench.teacher import WatchedEngines
from eval.bench.tokenizer import bench_lexicon, trained_tokenizer
from eval.bench.tool_decoding_method import ToolDecodingMethod
from eval.bench.workload import Ask, Workload, make_workload
from tooldecoding.decoder import ToolDecoder
from tooldecoding.options import DecodeOptions

VOCABULARY = SHAPES["tiny"].vocabulary


@cache
def decoder() -> ToolDecoder:
    model = random_model("tiny", torch.device("cpu"), torch.float32, 0)
    return ToolDecoder(model, trained_tokenizer(VOCABULARY), prompt_cache_mb=0)


@cache
def engines() -> WatchedEngines:
    return WatchedEngines(decoder().model)


def workload(batch: int = 1, call_format: str = "api-bank", **changes: Any) -> Workload:
    fields: dict[str, Any] = {"prompt_tokens": 300, "required": 4, "value_tokens": 5, "copied": 0.5, "seed": 0}
    ask = Ask(**(fields | changes), batch=batch, format=call_format)
    return make_workload(ask, decoder().tokenizer, decoder().table, bench_lexicon(VOCABULARY))


def generate(work: Workload, beams: int = 1) -> Method:
    return GenerateMethod("greedy", decoder().model, decoder().tokenizer, work, beams)


def tool_decoding(work: Workload, limit: int, **options: Any) -> Method:
    asked = DecodeOptions(order_limit=limit, format=work.ask.format, max_calls=1, **options)
    return ToolDecodingMethod(decoder(), engines(), work, asked)
