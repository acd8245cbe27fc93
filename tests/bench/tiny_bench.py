"""A tiny model of random weights, its prompts, and the methods that decode them."""

from functools import cache
from typing import Any

import torch

from eval.bench.methods import GenerateMethod, Method
from eval.bench.methods import tool_decoding as method_of
from eval.bench.options import BenchOptions
from eval.bench.subject import Subject, load_subject
from eval.bench.workload import Workload, make_workload
from tooldecoding.options import DecodeOptions


@cache
def subject() -> Subject:
    return load_subject(BenchOptions(shapes=("tiny",)), "tiny", torch.device("cpu"))


def workload(batch: int = 1, **changes: Any) -> Workload:
    fields: dict[str, Any] = {"prompt_tokens": 400, "value_tokens": 5}
    options = BenchOptions(shapes=("tiny",), **(fields | changes))
    return make_workload(options, batch, subject().tokenizer, subject().decoder.table)


def generate(work: Workload, beams: int = 1) -> Method:
    return GenerateMethod("greedy", subject().decoder.model, subject().tokenizer, work, beams)


def tool_decoding(work: Workload, limit: int, **options: Any) -> Method:
    asked = DecodeOptions(order_limit=limit, max_calls=1, **options)
    return method_of(subject(), work, asked)
