"""Other libraries, each with its own defaults, but for keys that are not listed: a schema allows these."""

import importlib
import json
import re
from typing import Any, Final

import numpy as np

from eval.schemas.engine import Engine
from tooldecoding.models.loading import load_tokenizer
from tooldecoding.tokens.token_table import TokenTable

_PLACE: Final = re.compile(r"^\[[\d:]+\] \S+ ")
"""Time and line of the source, with which xgrammar's messages begin."""


class LLGuidance(Engine):
    """llguidance."""

    name = package = "llguidance"

    def __init__(self, tokenizer: str) -> None:
        self._library = importlib.import_module("llguidance")
        masks = importlib.import_module("llguidance.numpy")
        self._fill = masks.fill_next_token_bitmask
        self._tokenizer = importlib.import_module("llguidance.hf").from_tokenizer(load_tokenizer(tokenizer))
        self._mask = masks.allocate_token_bitmask(1, self._tokenizer.vocab_size)

    def compile(self, schema: Any) -> None:
        """See Engine."""
        matcher = self._library.LLMatcher
        self._fresh = matcher(self._tokenizer, matcher.grammar_from_json_schema(json.dumps(schema)))
        self.start()
        self._fill(self._matcher, self._mask, 0)
        self._demand_no_error()

    def start(self) -> None:
        """See Engine."""
        self._matcher = self._fresh.deep_copy()

    def take(self, token: int) -> bool:
        """See Engine."""
        self._fill(self._matcher, self._mask, 0)
        taken = bool(self._mask[0, token // 32] >> (token % 32) & 1) and self._matcher.consume_token(token)
        if not taken:
            self._demand_no_error()
        return taken

    def complete(self) -> bool:
        """See Engine."""
        done: bool = self._matcher.is_accepting()
        return done

    def _demand_no_error(self) -> None:
        if self._matcher.is_error():
            raise ValueError(self._matcher.get_error())


class XGrammar(Engine):
    """xgrammar."""

    name = package = "xgrammar"

    def __init__(self, tokenizer: str) -> None:
        self._library = importlib.import_module("xgrammar")
        loaded = load_tokenizer(tokenizer)
        about = self._library.TokenizerInfo.from_huggingface(loaded, vocab_size=len(loaded))
        self._compiler = self._library.GrammarCompiler(about, max_threads=1)
        self._mask = self._library.allocate_token_bitmask(1, about.vocab_size)

    def compile(self, schema: Any) -> None:
        """See Engine."""
        try:
            self._grammar = self._compiler.compile_json_schema(json.dumps(schema), strict_mode=False)
        except RuntimeError as error:
            raise ValueError(_PLACE.sub("", str(error))) from None
        self.start()
        self._matcher.fill_next_token_bitmask(self._mask)

    def start(self) -> None:
        """See Engine."""
        self._matcher = self._library.GrammarMatcher(self._grammar)

    def take(self, token: int) -> bool:
        """See Engine."""
        self._matcher.fill_next_token_bitmask(self._mask)
        taken: bool = self._matcher.accept_token(token)
        return taken

    def complete(self) -> bool:
        """See Engine."""
        done: bool = self._matcher.is_completed()
        return done


class Outlines(Engine):
    """outlines, whose grammars of JSON Schemas are those of outlines-core."""

    name = "outlines"
    package = "outlines-core"

    def __init__(self, tokenizer: str) -> None:
        self._library = importlib.import_module("outlines_core")
        self._pattern = importlib.import_module("outlines_core.json_schema").build_regex_from_schema
        loaded = load_tokenizer(tokenizer)
        ids: dict[bytes, list[int]] = {}
        table = TokenTable(loaded)
        for token, text in enumerate(table.texts):
            if text and token != loaded.eos_token_id:
                ids.setdefault(text, []).append(token)
        self._vocabulary = self._library.Vocabulary(loaded.eos_token_id, ids)
        self._mask = np.full((len(table.texts) + 31) // 32, -1, dtype=np.int32)

    def compile(self, schema: Any) -> None:
        """See Engine."""
        self._index = self._library.Index(self._pattern(json.dumps(schema)), self._vocabulary)
        self.start()
        self._fill()

    def start(self) -> None:
        """See Engine."""
        self._guide = self._library.Guide(self._index)

    def take(self, token: int) -> bool:
        """See Engine."""
        self._fill()
        if not self._mask[token // 32] >> (token % 32) & 1:
            return False
        self._guide.advance(token, return_tokens=False)
        return True

    def complete(self) -> bool:
        """See Engine."""
        done: bool = self._guide.is_finished()
        return done

    def _fill(self) -> None:
        self._guide.write_mask_into(self._mask.ctypes.data, self._mask.size, self._mask.itemsize)
