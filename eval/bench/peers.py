"""Other libraries that constrain ``generate``, each used as it documents for transformers.

They are optional (``pip install 'tooldecoding[bench]'``). Each gets the call as a regular expression with keys in
documentation order, since none of them knows orders.
"""

import importlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any, ClassVar, Final

import torch
from transformers import (
    LogitsProcessor,
    PrefixConstrainedLogitsProcessor,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    tokenization_utils_base,
)

from eval.bench.failures import FAILURES, failure
from eval.errors import EvalError
from tooldecoding.cli.extras import how_to_install
from tooldecoding.tokens.token_table import TokenTable


class Peer(ABC):
    """One library.

    Attributes
    ----------
    name : str
        In ``--against``.
    package : str
        To install.
    note : str
        What a reader should know about its use here.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    note: ClassVar[str] = ""

    @abstractmethod
    def prepare(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        """Prepare once for a tokenizer."""

    @abstractmethod
    def compile(self, pattern: str) -> None:
        """Prepare once for the tools."""

    @abstractmethod
    def processor(self) -> LogitsProcessor:
        """Return the processor for one run."""


class XGrammar(Peer):
    """xgrammar."""

    name = package = "xgrammar"

    def prepare(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        """See Peer."""
        self._library = importlib.import_module("xgrammar")
        self._new = importlib.import_module("xgrammar.contrib.hf").LogitsProcessor
        info = self._library.TokenizerInfo.from_huggingface(tokenizer, vocab_size=_vocabulary(model))
        self._compiler = self._library.GrammarCompiler(info)

    def compile(self, pattern: str) -> None:
        """See Peer."""
        self._grammar = self._compiler.compile_regex(pattern)

    def processor(self) -> LogitsProcessor:
        """See Peer."""
        return self._new(self._grammar)


class LLGuidance(Peer):
    """llguidance."""

    name = package = "llguidance"
    note = "it brings functions for masks and no processor; ours calls them as its documentation does"

    def prepare(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        """See Peer."""
        self._library = importlib.import_module("llguidance")
        self._masks = importlib.import_module("llguidance.torch")
        reader = importlib.import_module("llguidance.hf")
        self._size = _vocabulary(model)
        self._tokenizer = reader.from_tokenizer(tokenizer, n_vocab=self._size)

    def compile(self, pattern: str) -> None:
        """See Peer."""
        self._grammar = self._library.LLMatcher.grammar_from_regex(pattern)
        self._matcher()  # reads the grammar

    def processor(self) -> LogitsProcessor:
        """See Peer."""
        return _LLGuidanceProcessor(self._matcher, self._masks, self._size)

    def _matcher(self) -> Any:
        matcher = self._library.LLMatcher(self._tokenizer, self._grammar)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher


class _LLGuidanceProcessor(LogitsProcessor):
    def __init__(self, new_matcher: Any, masks: Any, vocabulary: int) -> None:
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


class Outlines(Peer):
    """outlines, with its default backend for regular expressions."""

    name = package = "outlines"

    def prepare(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        """See Peer."""
        outlines = importlib.import_module("outlines")
        backends = importlib.import_module("outlines.backends.outlines_core")
        self._backend = backends.OutlinesCoreBackend(outlines.from_transformers(model, tokenizer))

    def compile(self, pattern: str) -> None:
        """See Peer."""
        self._processor = self._backend.get_regex_logits_processor(pattern)

    def processor(self) -> LogitsProcessor:
        """See Peer."""
        self._processor.reset()
        return self._processor


class FormatEnforcer(Peer):
    """lm-format-enforcer."""

    name = package = "lm-format-enforcer"
    note = "it imports a module that transformers 5 has emptied (tokenization_utils); another one stood in for it"

    def prepare(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        """See Peer."""
        with _old_module_names():
            self._glue = importlib.import_module("lmformatenforcer.integrations.transformers")
        self._parser = importlib.import_module("lmformatenforcer").RegexParser
        self._tokenizer = self._glue.build_token_enforcer_tokenizer_data(tokenizer)

    def compile(self, pattern: str) -> None:
        """See Peer."""
        self._pattern = self._parser(pattern)

    def processor(self) -> LogitsProcessor:
        """See Peer."""
        allowed = self._glue.build_transformers_prefix_allowed_tokens_fn(self._tokenizer, self._pattern)
        return PrefixConstrainedLogitsProcessor(allowed, num_beams=1)


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


PEERS: Final[Mapping[str, type[Peer]]] = {peer.name: peer for peer in (XGrammar, LLGuidance, Outlines, FormatEnforcer)}
"""Name -> library."""


def ready_peer(
    name: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, pattern: str
) -> tuple[Peer, dict[str, float]] | str:
    """Prepare a library for the tools; return it with the seconds spent, or why it cannot be measured."""
    peer = PEERS[name]()
    if installed(name) is None:
        return f"not installed; {how_to_install('bench')}"
    start = perf_counter()
    try:
        peer.prepare(model, tokenizer)
        prepared = perf_counter()
        peer.compile(pattern)
    except FAILURES as error:
        return failure(error)
    return peer, {"tokenizer": prepared - start, "tools": perf_counter() - prepared}


def admitted_path(peer: Peer, prompt: Sequence[int], call: Sequence[int], table: TokenTable) -> list[int]:
    """Return the tokens with which a library lets the call be written after a prompt.

    These are the tokenizer's own tokens. If the library refuses one of them, the longest token that it admits is used.

    Raises
    ------
    EvalError
        If it admits no fitting token.
    """
    processor, path, text = peer.processor(), list(prompt), table.join(call)
    written, wanted = b"", list(call)
    while written != text:
        scores = processor(torch.tensor([path]), torch.zeros((1, len(table.texts))))[0]
        token = wanted.pop(0)
        if not torch.isfinite(scores[token]):
            rest = text[len(written) :]
            fitting = [t for t in torch.isfinite(scores).nonzero()[:, 0].tolist() if _begins(table.texts[t], rest)]
            if not fitting:
                raise EvalError(f"{peer.name} does not admit the wanted call: nothing can follow {written.decode()!r}")
            token = max(fitting, key=lambda t: len(table.texts[t] or b""))
            wanted = list(
                table.encode_after(written + (table.texts[token] or b""), rest[len(table.texts[token] or b"") :])
            )
        path.append(token)
        written += table.texts[token] or b""
    return path[len(prompt) :]


def _begins(piece: bytes | None, text: bytes) -> bool:
    return bool(piece) and text.startswith(piece or b"")


def installed(name: str) -> str | None:
    """Return the version of a library; None if it is not installed."""
    try:
        return version(PEERS[name].package)
    except PackageNotFoundError:
        return None


def _vocabulary(model: PreTrainedModel) -> int:
    size: int = model.config.get_text_config().vocab_size
    return size
