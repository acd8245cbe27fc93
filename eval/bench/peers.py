"""Other libraries that constrain ``generate``, each used as it documents for transformers.

They are optional (``pip install 'tooldecoding[bench]'``). Each gets the call as a regular expression with keys in
documentation order, since none of them knows orders.
"""

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any, Final

import torch
from transformers import (
    LogitsProcessor,
    PrefixConstrainedLogitsProcessor,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    tokenization_utils_base,
)

from eval.bench.failures import FAILURES, failure
from eval.bench.methods import Constraint
from eval.bench.workload import Workload
from eval.errors import EvalError
from tooldecoding.cli.extras import how_to_install
from tooldecoding.tokens.token_table import TokenTable

NewProcessor = Callable[[], LogitsProcessor]
"""Makes the processor of one run."""
Prepared = Callable[[str], NewProcessor]
"""Compiles a regular expression with a library that knows the tokenizer."""


def xgrammar(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Prepared:
    """Prepare xgrammar."""
    library = importlib.import_module("xgrammar")
    new = importlib.import_module("xgrammar.contrib.hf").LogitsProcessor
    compiler = library.GrammarCompiler(library.TokenizerInfo.from_huggingface(tokenizer, vocab_size=_vocabulary(model)))

    def compiled(pattern: str) -> NewProcessor:
        grammar = compiler.compile_regex(pattern)
        return lambda: new(grammar)

    return compiled


def llguidance(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Prepared:
    """Prepare llguidance."""
    new = importlib.import_module("llguidance").LLMatcher
    masks = importlib.import_module("llguidance.torch")
    size = _vocabulary(model)
    known = importlib.import_module("llguidance.hf").from_tokenizer(tokenizer, n_vocab=size)

    def compiled(pattern: str) -> NewProcessor:
        grammar = new.grammar_from_regex(pattern)

        def matcher() -> Any:
            made = new(known, grammar)
            if made.is_error():
                raise ValueError(made.get_error())
            return made

        matcher()  # reads the grammar
        return lambda: _LLGuidanceProcessor(matcher, masks, size)

    return compiled


class _LLGuidanceProcessor(LogitsProcessor):
    def __init__(self, new_matcher: Callable[[], Any], masks: Any, vocabulary: int) -> None:
        self._new_matcher = new_matcher
        self._masks = masks
        self._vocabulary = vocabulary
        self._matchers: list[Any] = []

    def __call__(self, input_ids: torch.LongTensor, scores: torch.Tensor) -> torch.Tensor:
        if self._matchers:
            for matcher, token in zip(self._matchers, input_ids[:, -1].tolist(), strict=True):
                if not matcher.is_stopped() and not matcher.consume_token(token):
                    raise ValueError(matcher.get_error() or f"token {token} refused")
        else:
            self._matchers = [self._new_matcher() for _ in range(len(input_ids))]
            self._bitmask = self._masks.allocate_token_bitmask(len(input_ids), self._vocabulary)
        for row, matcher in enumerate(self._matchers):
            self._masks.fill_next_token_bitmask(matcher, self._bitmask, row)
        self._masks.apply_token_bitmask_inplace(scores, self._bitmask.to(scores.device))
        return scores


def outlines(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Prepared:
    """Prepare outlines, with its default backend for regular expressions."""
    wrapped = importlib.import_module("outlines").from_transformers(model, tokenizer)
    backend = importlib.import_module("outlines.backends.outlines_core").OutlinesCoreBackend(wrapped)

    def compiled(pattern: str) -> NewProcessor:
        processor = backend.get_regex_logits_processor(pattern)

        def fresh() -> LogitsProcessor:
            processor.reset()
            return processor

        return fresh

    return compiled


def lm_format_enforcer(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Prepared:
    """Prepare lm-format-enforcer."""
    with _old_module_names():
        glue = importlib.import_module("lmformatenforcer.integrations.transformers")
    parser = importlib.import_module("lmformatenforcer").RegexParser
    known = glue.build_token_enforcer_tokenizer_data(tokenizer)

    def compiled(pattern: str) -> NewProcessor:
        parsed = parser(pattern)
        return lambda: PrefixConstrainedLogitsProcessor(
            glue.build_transformers_prefix_allowed_tokens_fn(known, parsed), num_beams=1
        )

    return compiled


@contextmanager
def _old_module_names() -> Iterator[None]:
    """Inside the block, ``transformers.tokenization_utils`` has the content it had in transformers 4."""
    name = "transformers.tokenization_utils"
    before = sys.modules.get(name)
    sys.modules[name] = tokenization_utils_base
    try:
        yield
    finally:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before


def _vocabulary(model: PreTrainedModel) -> int:
    size: int = model.config.get_text_config().vocab_size
    return size


PEERS: Final[Mapping[str, Callable[[PreTrainedModel, PreTrainedTokenizerBase], Prepared]]] = {
    "xgrammar": xgrammar,
    "llguidance": llguidance,
    "outlines": outlines,
    "lm-format-enforcer": lm_format_enforcer,
}
"""Name, also of the package -> what prepares it for a tokenizer."""
_NOTES: Final = {
    "llguidance": "it brings functions for masks and no processor; ours calls them as its documentation does",
    "lm-format-enforcer": "it imports a module that transformers 5 has emptied (tokenization_utils); another one "
    "stood in for it",
}


def installed(name: str) -> str | None:
    """Return the version of a library; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def constraint_of(
    name: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, table: TokenTable, workload: Workload
) -> Constraint | str:
    """Prepare a library for the workload's tool, or return why it cannot be measured."""
    special = [mark for mark in workload.call_format.marks if mark in table.special.characters]
    if special:
        tokens = ", ".join(special)
        return f"a regular expression cannot ask for the tokens {tokens} of the format {workload.call_format.name}"
    if installed(name) is None:
        return f"not installed; {how_to_install('bench')}"
    start = perf_counter()
    try:
        compiled = PEERS[name](model, tokenizer)
        prepared = perf_counter()
        new_processor = compiled(call_pattern(workload))
        seconds = {"tokenizer": prepared - start, "tools": perf_counter() - prepared}
        calls = [admitted_path(name, new_processor(), t.prompt_ids, t.call_ids, table) for t in workload.tasks]
    except FAILURES as error:
        return failure(error)
    notes = [f"version {installed(name)}", _NOTES.get(name, "")]
    if more := sum(map(len, calls)) - sum(len(task.call_ids) for task in workload.tasks):
        notes.append(f"it refused tokens that begin the wanted text, which was written in {more} tokens more")
    return Constraint(new_processor, seconds, calls, "; ".join(filter(None, notes)))


def call_pattern(workload: Workload) -> str:
    """Return a regular expression for the call with any values, keys in the format's own order."""
    parts = workload.parts(workload.tasks[0])
    pairs = [
        f"{_exactly(p.before)}[^{p.closing.lstrip()[0]}\\\\\\n]+{_exactly(p.closing)}" for p in parts.pairs.values()
    ]
    return _exactly(parts.start) + _exactly(parts.separator).join(pairs) + _exactly(parts.end)


def _exactly(text: str) -> str:
    """Return a regular expression for a text, in the syntax that all libraries share."""
    return re.sub(r"([\\.^$*+?{}()|\[\]])", r"\\\1", text).replace("\n", r"\n")


def admitted_path(
    name: str, processor: LogitsProcessor, prompt: Sequence[int], call: Sequence[int], table: TokenTable
) -> list[int]:
    """Return the tokens with which a library lets the call be written after a prompt.

    These are the tokenizer's own tokens. If the library refuses one of them, the longest token that it admits is used.

    Raises
    ------
    EvalError
        If it admits no fitting token.
    """
    path, text, written, wanted = list(prompt), table.join(call), b"", list(call)
    while written != text:
        scores = processor(torch.tensor([path]), torch.zeros((1, len(table.texts))))[0]
        token = wanted.pop(0)
        if not torch.isfinite(scores[token]):
            rest = text[len(written) :]
            fitting = [t for t in torch.isfinite(scores).nonzero()[:, 0].tolist() if _begins(table.texts[t], rest)]
            if not fitting:
                raise EvalError(f"{name} does not admit the wanted call: nothing can follow {written.decode()!r}")
            token = max(fitting, key=lambda t: len(table.texts[t] or b""))
            piece = table.texts[token] or b""
            wanted = list(table.encode_after(written + piece, rest[len(piece) :]))
        path.append(token)
        written += table.texts[token] or b""
    return path[len(prompt) :]


def _begins(piece: bytes | None, text: bytes) -> bool:
    return bool(piece) and text.startswith(piece or b"")
