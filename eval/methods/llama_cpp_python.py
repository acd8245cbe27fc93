"""llama-cpp-python as people use it: greedy decoding of a GGUF file under llama.cpp's own grammar of the tools."""

import json
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

from transformers import PreTrainedTokenizerBase

from eval.errors import FAILURES, EvalError, failure
from eval.methods.call_grammar import arguments_schema
from eval.methods.plain_decoding import PlainDecoder
from eval.methods.prediction import Prediction, ScoredText, read_leniently
from lookup.dictionary import ToolSpec
from tooldecoding.models.llama_cpp import LlamaCppModel, library
from tooldecoding.request import Request

_LEAST_POSITIONS: Final = 2048
"""Size of the first context."""


class LlamaCppPython:
    """The package's completion under a grammar, as its ``create_chat_completion`` writes for a ``response_format``.

    An answer is one JSON object: a documented name, and arguments by the tool's schema. No prompt is kept for the next.
    The package loads the file for itself.
    """

    def __init__(self, model: LlamaCppModel, tokenizer: PreTrainedTokenizerBase, scored: ScoredText) -> None:
        self._model = model
        self._plain = PlainDecoder(model, tokenizer)
        self._scored = scored
        self._library = library()
        self._loaded = self._load(_LEAST_POSITIONS)

    def _load(self, positions: int) -> Any:
        threads, file = self._model.threads, str(self._model.file)
        return self._library.Llama(file, n_ctx=positions, n_threads=threads, n_threads_batch=threads, verbose=False)

    def run(self, requests: Sequence[Request]) -> list[Prediction]:
        """Decode prompts one after the other.

        PromptError if one leaves no room in the model's context. EvalError if the package fails, or refuses the grammar
        of the tools.
        """
        return [self._decode(request) for request in requests]

    def _decode(self, request: Request) -> Prediction:
        ids = self._plain.prompt_ids(request)
        most = self._plain.limit(request, ids)
        try:
            if len(ids) + most > self._loaded.n_ctx():
                self._loaded = self._load(2 * (len(ids) + most))
            self._loaded.reset()
            start = time.perf_counter()
            answer = self._loaded.create_completion(
                ids, grammar=self._grammar(request.tools.tools), max_tokens=most, temperature=0.0
            )
        except FAILURES as error:
            raise EvalError(f"llama-cpp-python cannot decode this: {failure(error)}") from None
        seconds, text = time.perf_counter() - start, answer["choices"][0]["text"]
        passes = answer["usage"]["completion_tokens"]
        counters = {"forward_passes": passes, "positions": len(ids) + passes - 1, "seconds": seconds}
        found = self._scored.of_calls(text, read_leniently(text))
        return Prediction(found, counters=counters, seconds=seconds, written=text)

    def _grammar(self, tools: Iterable[ToolSpec]) -> Any:
        """Return the grammar of one call of one of the tools."""
        calls = [
            {
                "type": "object",
                "properties": {"name": {"const": tool.name}, "arguments": arguments_schema(tool)},
                "required": ["name", "arguments"],
            }
            for tool in tools
        ]
        return self._library.LlamaGrammar.from_json_schema(json.dumps({"anyOf": calls}), verbose=False)
