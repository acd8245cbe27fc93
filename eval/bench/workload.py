"""The workload of a cell: prompts of given lengths, and the call that every method is made to write."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Final

from transformers import PreTrainedTokenizerBase

from eval.bench.call_parts import CallParts, call_parts
from eval.bench.words import TOOL, documentation, keys, prose
from eval.errors import EvalError
from lookup import extract
from lookup.dictionary import LookupDictionary
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.prompts.prompts import api_bank_prompt
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
class Ask:
    """Properties of a workload.

    Attributes
    ----------
    prompt_tokens : int
        Length of the prompt; in a batch the mean.
    required : int
        Required keys of the tool.
    value_tokens : int
        Tokens of each value, between its quotes.
    copied : float
        Share of the values that occur in the prompt; the others occur nowhere.
    batch : int
        Number of prompts that are decoded together.
    format : str
        Call format.
    seed : int
    """

    prompt_tokens: int
    required: int
    value_tokens: int
    copied: float
    batch: int
    format: str
    seed: int


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
    """The tool, the tasks of one batch, and how many values of each call occur in its prompt."""

    ask: Ask
    tools: LookupDictionary
    tasks: tuple[Task, ...]
    copied_values: int

    @property
    def call_format(self) -> CallFormat:
        """The call format."""
        return CALL_FORMATS[self.ask.format]

    def parts(self, task: Task, table: TokenTable | None = None) -> CallParts:
        """Return the parts of a task's call; with a table, special tokens are the characters that stand for them."""
        call_format = self.call_format if table is None else self.call_format.bound(table.special.bound)
        return call_parts(call_format, self.tools.tools[0], task.values)


def make_workload(ask: Ask, tokenizer: PreTrainedTokenizerBase, table: TokenTable, words: Sequence[str]) -> Workload:
    """Make the seeded tasks of one cell.

    Parameters
    ----------
    words : sequence of str
        The vocabulary of filler and values.

    Raises
    ------
    EvalError
        If a prompt of this length cannot hold the documentation, or the tokenizer cannot write such values.
    """
    docs = documentation(keys(ask.required))
    tools = extract(docs, origin="<bench>")
    random = Random(f"{ask.seed}/{ask.batch}/{ask.prompt_tokens}/{ask.required}/{ask.value_tokens}/{ask.copied}")
    copied = round(ask.copied * ask.required)
    maker = _Maker(ask, tools, tokenizer, table, words, random)
    lengths = [ask.prompt_tokens]
    if ask.batch > 1:
        lengths = [round(ask.prompt_tokens * random.uniform(1 - RAGGED, 1 + RAGGED)) for _ in range(ask.batch)]
    return Workload(ask, tools, tuple(maker.task(docs, length, copied) for length in lengths), copied)


class _Maker:
    def __init__(
        self,
        ask: Ask,
        tools: LookupDictionary,
        tokenizer: PreTrainedTokenizerBase,
        table: TokenTable,
        words: Sequence[str],
        random: Random,
    ) -> None:
        self._ask = ask
        [self._tool] = tools.tools
        self._call_format = CALL_FORMATS[ask.format]
        self._bound_format = self._call_format.bound(table.special.bound)
        self._ending = OPEN_ENDING if self._call_format.lead else ENDING
        self._tokenizer = tokenizer
        self._table = table
        self._words = words
        self._random = random

    def task(self, docs: str, length: int, copied: int) -> Task:
        names = keys(self._ask.required)
        values = {key: self._value(key) for key in names}
        said = self._random.sample(names, copied)
        request = ", ".join(f"the {key.replace('_', ' ')} is {values[key]}" for key in names if key in said)
        last = f"User: Please make an appointment: {request}." if request else "User: Please make an appointment."
        prompt = self._fitting(docs, last, length)
        ids = self._ids(prompt)
        parts = call_parts(self._call_format, self._tool, values)
        call = parts.text([*parts.pairs])
        together = self._ids(prompt + call)
        if together[: len(ids)] != ids:
            raise EvalError(
                f"tokenizer {self._table.name} joins the end of the prompt, {self._ending!r}, with the call"
            )
        return Task(tuple(ids), values, call, tuple(together[len(ids) :]))

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text))

    def _value(self, key: str) -> str:
        """Return a text of ``value_tokens`` tokens; no token crosses its quotes, whatever follows it."""
        for _ in range(_TRIES):
            chosen = [self._random.choice(self._words)]
            while (tokens := self._tokens_of(key, " ".join(chosen))) is not None and tokens < self._ask.value_tokens:
                chosen.append(self._random.choice(self._words))
            if tokens == self._ask.value_tokens:
                return " ".join(chosen)
        raise EvalError(
            f"tokenizer {self._table.name}: found no value of exactly {self._ask.value_tokens} tokens; "
            "try another --value-tokens"
        )

    def _tokens_of(self, key: str, value: str) -> int | None:
        """Count the tokens between the quotes; None if that depends on what follows."""
        parts = call_parts(self._bound_format, self._tool, {key: value})
        pair = parts.pairs[key]
        before = self._bound_format.bracket_of(0) + pair.before
        counts = {
            inner_tokens(self._table, self._behind_name(before + value + pair.closing + behind), before, value)
            for behind in (parts.separator + self._bound_format.key(key), parts.end)
        }
        return counts.pop() if len(counts) == 1 else None

    def _behind_name(self, text: str) -> Sequence[int]:
        """Tokenise a part of a call after some text: at the start of a text some tokenizers add a space."""
        return self._table.encode_after(TOOL.encode(), text.encode())

    def _fitting(self, docs: str, last: str, length: int) -> str:
        """Return a prompt of exactly ``length`` tokens."""
        stream = prose(self._words, self._random)
        filler = list(islice(stream, length))
        fewest, most = 0, length  # a word takes at least one token
        smallest = self._size(docs, [], last, 0)
        if smallest > length:
            raise EvalError(
                f"--prompt-tokens: the documentation, the instruction and the values that stand in the prompt take "
                f"{smallest} tokens, so that a prompt of {length} is too short"
            )
        turns = (length - smallest) // _TURN
        while most - fewest > 1:
            middle = (fewest + most) // 2
            if self._size(docs, filler[:middle], last, turns) <= length:
                fewest = middle
            else:
                most = middle
        for _ in range(_TRIES):
            size = self._size(docs, filler[:fewest], last, turns)
            if size == length:
                return self._prompt(docs, filler[:fewest], last, turns)
            if size < length and fewest < len(filler):
                filler[fewest] = next(stream)
                fewest += 1
            else:
                fewest = max(0, fewest - self._random.randint(1, 4))
        raise EvalError(f"tokenizer {self._table.name}: found no prompt of exactly {length} tokens")

    def _size(self, docs: str, filler: Sequence[str], last: str, turns: int) -> int:
        return len(self._ids(self._prompt(docs, filler, last, turns)))

    def _prompt(self, docs: str, filler: Sequence[str], last: str, turns: int) -> str:
        """Put the filler into earlier turns, or after the last turn if there is no room for any."""
        if not turns:
            return api_bank_prompt(docs, [" ".join([last, *filler])], ending=self._ending)
        return api_bank_prompt(docs, [*_turns(filler, turns), last], ending=self._ending)


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
