"""What a cell of the bench decodes: prompts of given lengths, and the call that every method is made to write."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Final

from transformers import PreTrainedTokenizerBase

from eval.bench.words import TOOL, documentation, keys, prose
from eval.errors import EvalError
from lookup import extract
from lookup.dictionary import LookupDictionary
from lookup.values.literal_values import render_value
from tooldecoding.formats.call_format import CallFormat
from tooldecoding.formats.known_formats import CALL_FORMATS
from tooldecoding.prompts.prompts import api_bank_prompt
from tooldecoding.tokens.token_table import TokenTable

RAGGED: Final = 0.2
"""Prompts of a batch differ by so much from the length that was asked for."""
ENDING: Final = "API-Request:\n"
_TRIES: Final = 4000
_TURN: Final = 30
"""Tokens of a turn of filler, about."""


@dataclass(frozen=True)
class Ask:
    """What is asked for.

    Attributes
    ----------
    prompt_tokens : int
        Of the prompt; in a batch the mean.
    required : int
        Required keys of the tool.
    value_tokens : int
        Tokens of each value between its quotes.
    copied : float
        Share of the values that stand in the prompt; the rest stands nowhere.
    batch : int
        Prompts that are decoded together.
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
        The wanted call in documentation order.
    call_ids : tuple of int
        Its tokens behind the prompt.
    """

    prompt_ids: tuple[int, ...]
    values: Mapping[str, str]
    call: str
    call_ids: tuple[int, ...]


@dataclass(frozen=True)
class Workload:
    """The tool, the tasks of one batch, and how many values of each call stand in its prompt."""

    ask: Ask
    tools: LookupDictionary
    tasks: tuple[Task, ...]
    copied_values: int

    @property
    def form(self) -> CallFormat:
        """The call format."""
        return CALL_FORMATS[self.ask.format]


def make_workload(ask: Ask, tokenizer: PreTrainedTokenizerBase, table: TokenTable, words: Sequence[str]) -> Workload:
    """The seeded tasks of one cell.

    Parameters
    ----------
    words : sequence of str
        What filler and values are made of.

    Raises
    ------
    EvalError
        If a prompt of this length cannot hold the documentation, or the tokenizer writes no such values.
    """
    docs = documentation(keys(ask.required))
    tools = extract(docs, origin="<bench>")
    random = Random(f"{ask.seed}/{ask.batch}/{ask.prompt_tokens}/{ask.required}/{ask.value_tokens}/{ask.copied}")
    copied = round(ask.copied * ask.required)
    maker = _Maker(ask, tokenizer, table, words, random)
    lengths = [ask.prompt_tokens]
    if ask.batch > 1:
        lengths = [round(ask.prompt_tokens * random.uniform(1 - RAGGED, 1 + RAGGED)) for _ in range(ask.batch)]
    return Workload(ask, tools, tuple(maker.task(docs, length, copied) for length in lengths), copied)


class _Maker:
    def __init__(
        self,
        ask: Ask,
        tokenizer: PreTrainedTokenizerBase,
        table: TokenTable,
        words: Sequence[str],
        random: Random,
    ) -> None:
        self._ask = ask
        self._form = CALL_FORMATS[ask.format]
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
        pairs = self._form.separator.join(self._form.key(key) + self._literal(values[key]) for key in names)
        call = f"{self._form.opener}{TOOL}{self._form.bracket}{pairs}{self._form.end}{self._form.closer}"
        together = self._ids(prompt + call)
        if together[: len(ids)] != ids:
            raise EvalError(f"tokenizer {self._table.name} joins the end of the prompt, {ENDING!r}, with the call")
        return Task(tuple(ids), values, call, tuple(together[len(ids) :]))

    def _literal(self, value: str) -> str:
        return render_value(value, self._form.notation)

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text))

    def _value(self, key: str) -> str:
        """A text of so many tokens, with no token across its quotes, whatever follows it."""
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
        """Tokens between the quotes; None if they depend on what follows."""
        literal = self._literal(value)
        before = f"{self._form.bracket}{self._form.key(key)}{literal[0]}"
        counts = {
            inner_tokens(self._table, self._behind_name(before + value + literal[-1] + behind), before, value)
            for behind in (self._form.separator + key, self._form.end + self._form.closer)
        }
        return counts.pop() if len(counts) == 1 else None

    def _behind_name(self, text: str) -> Sequence[int]:
        """Tokens of a part of a call: at the beginning of a text some tokenizers write a space more."""
        return self._table.encode_after(TOOL.encode(), text.encode())

    def _fitting(self, docs: str, last: str, length: int) -> str:
        """A prompt of exactly ``length`` tokens."""
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
        """The filler stands in earlier turns, behind the last one where there is no room for any."""
        if not turns:
            return api_bank_prompt(docs, [" ".join([last, *filler])], ending=ENDING)
        return api_bank_prompt(docs, [*_turns(filler, turns), last], ending=ENDING)


def _turns(words: Sequence[str], count: int) -> Iterator[str]:
    """Turns of about as many words each; their number does not depend on that of the words."""
    for number in range(count):
        part = words[len(words) * number // count : len(words) * (number + 1) // count]
        yield " ".join(("AI:" if number % 2 else "User:", *part))


def inner_tokens(table: TokenTable, ids: Sequence[int], before: str, value: str) -> int | None:
    """How many tokens lie between ``before`` and the end of ``value``; None if one crosses either."""
    start, end = len(before.encode()), len((before + value).encode())
    place, inner = 0, 0
    for token in ids:
        size = len(table.texts[token] or b"")
        first, place = place, place + size
        if first < start < place or first < end < place:
            return None
        inner += start <= first < end and size > 0
    return inner
