"""The workload of a cell: prompts of given lengths, and the call that every method is made to write."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Final

from transformers import PreTrainedTokenizerBase

from eval.bench.call_parts import CallParts, call_parts
from eval.bench.options import BenchOptions
from eval.bench.words import TOOL, documentation, keys, prose
from eval.errors import EvalError
from lookup import extract
from lookup.dictionary import ToolSpec
from tooldecoding.chat.prompts import api_bank_prompt
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.tokens.token_table import TokenTable

RAGGED: Final = 0.2
"""Largest relative difference of a prompt in a batch from the requested length."""
ENDING: Final = "API-Request:\n"
OPEN_ENDING: Final = "API-Request"
"""For formats whose calls begin with newlines, which tokenizers join with a colon or newline before them."""
_TRIES: Final = 4000
_TURN: Final = 30
"""Approximate tokens of a turn of filler."""


@dataclass(frozen=True)
class Task:
    """One prompt and its call.

    Attributes
    ----------
    prompt_ids : tuple of int
    values : mapping
        Key -> text, in documentation order.
    call : str
        The wanted call, with its keys in the format's own order.
    call_ids : tuple of int
        Its tokens after the prompt.
    """

    prompt_ids: tuple[int, ...]
    values: Mapping[str, str]
    call: str
    call_ids: tuple[int, ...]


@dataclass(frozen=True)
class Workload:
    """The call format, the tool, the tasks of one batch, and how many values of each call occur in its prompt."""

    call_format: CallFormat
    tool: ToolSpec
    tasks: tuple[Task, ...]
    copied_values: int

    def parts(self, task: Task, table: TokenTable | None = None) -> CallParts:
        """Return the parts of a task's call; with a table, special tokens are the characters that stand for them."""
        call_format = self.call_format if table is None else self.call_format.bound(table.special.bound)
        return call_parts(call_format, self.tool, task.values)


def make_workload(
    options: BenchOptions, batch: int, tokenizer: PreTrainedTokenizerBase, table: TokenTable, words: Sequence[str]
) -> Workload:
    """Make the seeded tasks of one cell.

    Parameters
    ----------
    options : BenchOptions
        Says what prompts and values are like.
    batch : int
        Number of prompts that are decoded together.
    words : sequence of str
        The vocabulary of filler and values.

    Raises
    ------
    EvalError
        If a prompt of this length cannot hold the documentation, or the tokenizer cannot write such values.
    """
    mean, required = options.prompt_tokens, options.required
    docs = documentation(keys(required))
    [tool] = extract(docs, origin="<bench>").tools
    random = Random(f"{options.seed}/{batch}/{mean}/{required}/{options.value_tokens}/{options.copied}")
    copied = round(options.copied * required)
    call_format = CALL_FORMATS[options.format]
    maker = _Maker(
        options, docs, tool, call_format, call_format.bound(table.special.bound), tokenizer, table, words, random
    )
    lengths = [mean]
    if batch > 1:
        lengths = [round(mean * random.uniform(1 - RAGGED, 1 + RAGGED)) for _ in range(batch)]
    return Workload(call_format, tool, tuple(maker.task(length, copied) for length in lengths), copied)


@dataclass(frozen=True)
class _Maker:
    options: BenchOptions
    docs: str
    tool: ToolSpec
    call_format: CallFormat
    bound_format: CallFormat
    tokenizer: PreTrainedTokenizerBase
    table: TokenTable
    words: Sequence[str]
    random: Random

    @property
    def ending(self) -> str:
        """What a prompt ends with."""
        return OPEN_ENDING if self.call_format.lead else ENDING

    def task(self, length: int, copied: int) -> Task:
        """Make a prompt of ``length`` tokens, in which so many of the call's values stand."""
        names = keys(self.options.required)
        values = {key: self._value(key) for key in names}
        said = self.random.sample(names, copied)
        request = ", ".join(f"the {key.replace('_', ' ')} is {values[key]}" for key in names if key in said)
        last = f"User: Please make an appointment: {request}." if request else "User: Please make an appointment."
        prompt = self._fitting(last, length)
        ids = self._ids(prompt)
        parts = call_parts(self.call_format, self.tool, values)
        call = parts.text([*parts.pairs])
        together = self._ids(prompt + call)
        if together[: len(ids)] != ids:
            raise EvalError(f"tokenizer {self.table.name} joins the end of the prompt, {self.ending!r}, with the call")
        return Task(tuple(ids), values, call, tuple(together[len(ids) :]))

    def _ids(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text))

    def _value(self, key: str) -> str:
        """Return a text of ``value_tokens`` tokens; no token crosses its quotes, whatever follows it."""
        for _ in range(_TRIES):
            chosen = [self.random.choice(self.words)]
            while (tokens := self._tokens_of(key, " ".join(chosen))) is not None and tokens < self.options.value_tokens:
                chosen.append(self.random.choice(self.words))
            if tokens == self.options.value_tokens:
                return " ".join(chosen)
        raise EvalError(
            f"tokenizer {self.table.name}: found no value of exactly {self.options.value_tokens} tokens; "
            "try another --value-tokens"
        )

    def _tokens_of(self, key: str, value: str) -> int | None:
        """Count the tokens between the quotes; None if that depends on what follows."""
        parts = call_parts(self.bound_format, self.tool, {key: value})
        pair = parts.pairs[key]
        before = self.bound_format.bracket_of(0) + pair.before
        counts = {
            inner_tokens(self.table, self._behind_name(before + value + pair.closing + behind), before, value)
            for behind in (parts.separator + self.bound_format.key(key), parts.end)
        }
        return counts.pop() if len(counts) == 1 else None

    def _behind_name(self, text: str) -> Sequence[int]:
        """Tokenise a part of a call after some text: at the start of a text some tokenizers add a space."""
        return self.table.encode_after(TOOL.encode(), text.encode())

    def _fitting(self, last: str, length: int) -> str:
        """Return a prompt of exactly ``length`` tokens."""
        stream = prose(self.words, self.random)
        filler = list(islice(stream, length))
        fewest, most = 0, length  # a word takes at least one token
        smallest = self._size([], last, 0)
        if smallest > length:
            raise EvalError(
                f"--prompt-tokens: the documentation, the instruction and the values that stand in the prompt take "
                f"{smallest} tokens, so that a prompt of {length} is too short"
            )
        turns = (length - smallest) // _TURN
        while most - fewest > 1:
            middle = (fewest + most) // 2
            if self._size(filler[:middle], last, turns) <= length:
                fewest = middle
            else:
                most = middle
        for _ in range(_TRIES):
            size = self._size(filler[:fewest], last, turns)
            if size == length:
                return self._prompt(filler[:fewest], last, turns)
            if size < length and fewest < len(filler):
                filler[fewest] = next(stream)
                fewest += 1
            else:
                fewest = max(0, fewest - self.random.randint(1, 4))
        raise EvalError(f"tokenizer {self.table.name}: found no prompt of exactly {length} tokens")

    def _size(self, filler: Sequence[str], last: str, turns: int) -> int:
        return len(self._ids(self._prompt(filler, last, turns)))

    def _prompt(self, filler: Sequence[str], last: str, turns: int) -> str:
        """Put the filler into earlier turns, or after the last turn if there is no room for any."""
        if not turns:
            return api_bank_prompt(self.docs, [" ".join([last, *filler])], ending=self.ending)
        return api_bank_prompt(self.docs, [*_turns(filler, turns), last], ending=self.ending)


def _turns(words: Sequence[str], count: int) -> Iterator[str]:
    """Split words into ``count`` turns of about the same length."""
    for number in range(count):
        part = words[len(words) * number // count : len(words) * (number + 1) // count]
        yield " ".join(("AI:" if number % 2 else "User:", *part))


def inner_tokens(table: TokenTable, ids: Sequence[int], before: str, value: str) -> int | None:
    """Count the tokens from the end of ``before`` to the end of ``value``; None if a token crosses either."""
    start, end = len(before.encode()), len((before + value).encode())
    place, inner = 0, 0
    for token in ids:
        size = len(table.texts[token] or b"")
        first, place = place, place + size
        if first < start < place or first < end < place:
            return None
        inner += start <= first < end and size > 0
    return inner
