"""The prompt of a sample: documentation, instruction, in-context examples, dialogue."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Final

from transformers import PreTrainedTokenizerBase

from eval.benchmarks.samples import Benchmark, Sample
from eval.errors import EvalError
from eval.methods.call_grammar import demand_grammar
from eval.options import PEER_METHODS, EvalOptions
from tooldecoding.chat.chat import dialogue_request
from tooldecoding.chat.dialogue import API_BANK_LABELS, BFCL_LABELS, dialogue_lines, openai_messages
from tooldecoding.chat.documentation import Documentation
from tooldecoding.chat.template_profile import profile_of
from tooldecoding.chat.templates import (
    API_BANK_ENDING,
    API_BANK_INSTRUCTION,
    BFCL_ENDING,
    BFCL_INSTRUCTION,
    api_bank_prompt,
    bfcl_prompt,
    chat_format,
)
from tooldecoding.options.decode_options import AUTO, Detail, changed
from tooldecoding.request import Request

_NO_LIMIT: Final = 10**9
"""Tokenizers without a longest input name a number far beyond this one."""


@dataclass(frozen=True)
class Prompter:
    """Writes the prompts of one run.

    Parameters
    ----------
    settings : EvalOptions
        Its ``template`` and ``format`` are set.
    samples : sequence of Sample
        All samples of the benchmark, for in-context examples.
    tokenizer : PreTrainedTokenizerBase
        For its chat template.
    dialects : bool
        Whether no format was named, so that the model may begin a call in its own way.
    """

    settings: EvalOptions
    samples: Sequence[Sample]
    tokenizer: PreTrainedTokenizerBase
    dialects: bool = False

    def request(self, sample: Sample) -> Request:
        """What a method shall decode for a sample."""
        if self.settings.template == "chat":
            asked = changed(self.settings, {"format": AUTO} if self.dialects else {})
            return dialogue_request(sample.turns, sample.documentation, asked, self.tokenizer)
        shots = self.examples(sample)
        return Request(
            self._composed(sample, shots),
            sample.documentation.lookup,
            self.settings,
            stop="\n",
            conversation=sample.turns,
            prompt_for=sample.documentation.prompts_of_one(
                self.settings.documentation, partial(self._with, sample, shots)
            ),
        )

    def tokens(self, request: Request) -> int:
        """Return how many tokens the prompt of a request has."""
        return len(self.tokenizer.encode(str(request.prompt), add_special_tokens=request.special_tokens))

    def text(self, sample: Sample) -> str:
        """The prompt as the model sees it, without its chat template: text, or messages and tools as JSON."""
        if self.settings.template == "chat":
            bare = profile_of(self.tokenizer).bare_tools
            tools = sample.documentation.as_chat_tools(self.settings.documentation, bare)
            return json.dumps({"messages": openai_messages(sample.turns), "tools": tools}, default=list)
        return self._composed(sample, self.examples(sample))

    def examples(self, sample: Sample) -> list[Sample]:
        """Return the in-context examples of a sample: as many of those asked for as its prompt has room for.

        A prompt and the longest answer (``max_text_tokens``) fit in what the tokenizer names as the longest input; a
        tokenizer that names none leaves all examples.
        """
        shots = self._shots(sample)
        longest = self.tokenizer.model_max_length
        if longest > _NO_LIMIT:
            return shots
        room = longest - self.settings.max_text_tokens
        while shots and len(self.tokenizer(self._composed(sample, shots), verbose=False)["input_ids"]) > room:
            shots.pop()
        return shots

    def _composed(self, sample: Sample, shots: Sequence[Sample]) -> str:
        return self._with(sample, shots, sample.documentation, self.settings.documentation)

    def _with(self, sample: Sample, shots: Sequence[Sample], documentation: Documentation, detail: Detail) -> str:
        lines = [*self._example_lines(shots), *self._dialogue(sample)]
        instruction = API_BANK_INSTRUCTION if self.settings.format == "api-bank" else BFCL_INSTRUCTION
        if self.settings.template == "bfcl":
            return bfcl_prompt(documentation.as_bfcl(detail), lines, instruction, self._ending)
        return api_bank_prompt(documentation.as_api_bank(detail), lines, instruction, self._ending)

    @property
    def _ending(self) -> str:
        """How the line begins that the model completes."""
        return BFCL_ENDING if self.settings.template == "bfcl" else API_BANK_ENDING

    def _dialogue(self, sample: Sample) -> list[str]:
        labels = BFCL_LABELS if self.settings.template == "bfcl" else API_BANK_LABELS
        return dialogue_lines(sample.turns, self.settings.call_format, labels)

    def _example_lines(self, shots: Sequence[Sample]) -> list[str]:
        """Dialogues with the call that came next, each followed by an empty line."""
        lines: list[str] = []
        for example in shots:
            lines += [*self._dialogue(example), self._ending + self.settings.call_format.render(example.calls), ""]
        return lines

    def _shots(self, sample: Sample) -> list[Sample]:
        """In-context examples: seeded, one a dialogue, never its own, of its category where there are any."""
        if not self.settings.shots:
            return []
        usable = [s for s in self.samples if s.calls and (self.settings.call_format.parallel or len(s.calls) == 1)]
        if not usable:
            raise EvalError("--shots: none of the samples has a right call to show; leave it out")
        others = [s for s in usable if s.dialogue != sample.dialogue]
        alike = [s for s in others if s.category == sample.category] or others
        Random(f"{self.settings.seed}/{sample.id}").shuffle(alike)
        one_each = {s.dialogue: s for s in alike}
        return list(one_each.values())[: self.settings.shots]


def settled(options: EvalOptions, benchmark: Benchmark, tokenizer: PreTrainedTokenizerBase) -> EvalOptions:
    """Return the options with the format's name in place of ``auto``.

    EvalError if the template is ``chat``, and the model has no chat template; if the method needs a grammar of calls,
    and the format has none. ModelError if the chat template prints tools, and writes calls in no known format.
    """
    if options.template == "chat":
        if not tokenizer.chat_template:
            raise EvalError(f"the tokenizer of {options.model!r} has no chat template; leave out --template chat")
        options = replace(options, format=chat_format(options, tokenizer))
    elif options.format == AUTO:
        options = replace(options, format=benchmark.call_format)
    if options.method in PEER_METHODS:
        demand_grammar(options.method, options.call_format)
    return options
