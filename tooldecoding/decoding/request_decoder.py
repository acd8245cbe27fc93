"""RequestDecoder: requests -> results, together, one by one as they end, or streamed, through one engine."""

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from threading import Lock

from transformers import PreTrainedTokenizerBase

from lookup.dictionary import LookupDictionary
from tooldecoding.chat.prompt_tokens import checked_ids, text_ids
from tooldecoding.decoding.compiled_tools import CompiledTools
from tooldecoding.decoding.decode_loop import DecodeLoop, TaskGroup
from tooldecoding.decoding.decoded_call import DecodedCall, ResultStream, TextPiece
from tooldecoding.decoding.prompt_decoder import DecodedPrompt, PromptDecoder
from tooldecoding.engines.engine import Engine
from tooldecoding.errors import ContextLengthError, PromptError
from tooldecoding.files.lru_cache import LruCache
from tooldecoding.formats.known_formats import MARKS, TURN_ENDS
from tooldecoding.models.sources import Model
from tooldecoding.options import TOOL_CHOICES
from tooldecoding.request import Request
from tooldecoding.result import DecodeResult, RequestRun
from tooldecoding.tokens.branch import Branch
from tooldecoding.tokens.guarded_text import PromptText
from tooldecoding.tokens.token_table import TokenTable

_SETS, _TOOLS = 64, 50_000
"""Limits of what is kept across requests, in sets of compiled tools and in tools."""


class RequestDecoder:
    """Decodes requests with one model, each decode with a new engine; ``ToolDecoder`` makes requests and engines."""

    def __init__(self, model: Model, tokenizer: PreTrainedTokenizerBase, new_engine: Callable[[], Engine]) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.new_engine = new_engine
        vocabulary = model.config.get_text_config().vocab_size
        self.table = TokenTable(tokenizer, vocabulary, marks=MARKS, turn_ends=TURN_ENDS, end_ids=end_ids(model))
        # the lookup is kept, too, so that no other one gets its id
        made = LruCache[Hashable, tuple[LookupDictionary, CompiledTools]](_SETS, _TOOLS, lambda _, m: len(m[0]))
        self._compiled, self._compiling = made, Lock()
        self.context: int | None = getattr(model.config.get_text_config(), "max_position_embeddings", None)

    def run(self, requests: Sequence[Request]) -> list[DecodeResult]:
        """Decode several prompts together, each with its own tools and options.

        ToolDecodingError as ``ToolDecoder.decode``. Nothing is decoded then.
        """
        return [result for _, result in sorted(self.run_each(requests), key=itemgetter(0))]

    def run_each(self, requests: Sequence[Request], at_once: int | None = None) -> Iterator[tuple[int, DecodeResult]]:
        """As ``run``, but yields the number and the result of each request as it ends.

        ToolDecodingError as ``ToolDecoder.decode``, before the first result.

        Parameters
        ----------
        requests : sequence of Request
        at_once : int, optional
            Most prompts that are decoded at a time: as one ends, the next one begins. Default: all.
        """
        if not requests:
            return
        prompts = [self.prompt_ids(request) for request in requests]
        start, loop = time.perf_counter(), DecodeLoop(self.new_engine())
        runs: list[RequestRun] = []

        def begun() -> Iterator[TaskGroup[DecodedPrompt]]:
            for request, ids in zip(requests, prompts, strict=True):
                run, decoding = self.begin(request, ids, loop)
                runs.append(run)
                yield decoding

        for number, decoded in loop.each(begun(), at_once):
            seconds = time.perf_counter() - start
            yield number, runs[number].result(decoded, self.table, requests[number].options, seconds)

    def stream_run(self, request: Request) -> Iterator[TextPiece | DecodedCall | DecodeResult]:
        """Decode a prompt; yields thinking and content as they are written, calls once voted, and last the result.

        ToolDecodingError as ``ToolDecoder.decode``, before the first item.
        """
        return self._streamed(request, self.prompt_ids(request))

    def _streamed(
        self, request: Request, prompt_ids: Sequence[int]
    ) -> Iterator[TextPiece | DecodedCall | DecodeResult]:
        stream, loop, start = ResultStream(), DecodeLoop(self.new_engine()), time.perf_counter()
        run, decoding = self.begin(request, prompt_ids, loop, stream)
        while not decoding.ended:
            loop.forward()
            yield from stream.take()
        result = run.result(decoding.result, self.table, request.options, time.perf_counter() - start)
        stream.show(result.answer)
        yield from stream.take()
        yield result

    def begin(
        self,
        request: Request,
        prompt_ids: Sequence[int],
        loop: DecodeLoop,
        stream: ResultStream | None = None,
        watched: bool = False,
    ) -> tuple[RequestRun, TaskGroup[DecodedPrompt]]:
        """Begin to decode a prompt beside others.

        Parameters
        ----------
        prompt_ids : sequence of int
            What ``prompt_ids`` returns for the request.
        stream : ResultStream, optional
            Is told what is certain while the prompt is decoded.
        watched : bool
            Whether somebody reads the text along, token by token.
        """
        engine = loop.engine
        # a draft saves passes for the positions that it adds
        worth = 0 if engine.goes_on_alone else engine.worth_a_pass
        if worth < Engine.worth_a_pass:
            drafts = request.options.draft_tokens * worth // Engine.worth_a_pass
            request = replace(request, options=replace(request.options, draft_tokens=drafts))
        [root] = engine.open(1)
        try:
            run = RequestRun(prompt_ids, engine.usage(root))
            branch = Branch.behind(prompt_ids, engine, root, self.table, run.tally, self.context)
            tools = self.compiled_tools(request)
            answering = None if request.json_answer is None else self.compiled_tools(request.json_answer)
            decoder = PromptDecoder(tools, request, self.table, prompt_ids, stream, answering=answering)
        except BaseException:
            engine.close(root)  # it goes on with the others
            raise
        return run, loop.spawn(root, decoder.decode(branch), watched)

    def prompt_ids(self, request: Request) -> list[int]:
        """Return the tokens of the prompt.

        PromptError if the prompt is empty, is no Unicode text, or has ids that are not the model's; ContextLengthError
        if it leaves no room for a call.
        """
        if isinstance(request.prompt, PromptText):
            ids = text_ids(request.prompt, self.table, request.special_tokens)
        else:
            ids = checked_ids(request.prompt, len(self.table.texts))
        if not ids:
            raise PromptError("the prompt has no tokens")
        self._check_choice(request)
        kinds = (request, request.json_answer) if request.json_answer else (request,)
        needed = max(1, *(self.compiled_tools(kind).reserve(kind.options.choice) for kind in kinds))
        excess = len(ids) + needed - (self.context or len(ids) + needed)
        if excess > 0:
            raise ContextLengthError(
                f"the prompt has {len(ids)} tokens and a call needs at least {needed} more, but the model's context is "
                f"{self.context} tokens: {excess} too many; give fewer tools, print less of them "
                "(documentation: summaries or names), or a shorter dialogue"
            )
        return ids

    def _check_choice(self, request: Request) -> None:
        choice = request.options.choice
        if not len(request.tools) and choice != "none":
            raise PromptError("there is no tool to call; give documentation or tool_choice none")
        if choice not in TOOL_CHOICES and choice not in request.tools:
            known = ", ".join([*TOOL_CHOICES, *request.tools])
            raise PromptError(f"unknown tool_choice {choice!r}; known: {known}")

    def compiled_tools(self, request: Request) -> CompiledTools:
        """Return what does not depend on the prompt of a request; kept across requests, safe for threads."""
        lookup, options = request.tools, request.options
        key = (id(lookup), options.format, options.value_constraint, options.unknown_keys)
        with self._compiling:
            return self._compiled.of(key, lambda: (lookup, CompiledTools(lookup, self.table, options)))[1]


def end_ids(model: Model) -> list[int]:
    """Return the tokens that end the model's turn by its own configuration."""
    configured = getattr(model.generation_config, "eos_token_id", None)
    return [] if configured is None else [configured] if isinstance(configured, int) else list(configured)
