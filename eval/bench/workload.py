"""The workload of a cell: prompts of given lengths, and the call that every method is made to write."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from transformers import PreTrainedTokenizerBase

from eval.bench.options import HEADS, TAILS, BenchOptions
from eval.errors import EvalError
from lookup import extract
from lookup.dictionary import ToolSpec
from tooldecoding.chat.templates import api_bank_prompt
from tooldecoding.tokens.token_table import TokenTable

TOOL: Final = "MakeAppointment"
RAGGED: Final = 0.2
"""Largest relative difference of a prompt in a batch from the requested length."""
OPENING: Final = f"[{TOOL}("
SEPARATOR: Final = ", "
END: Final = ")]"
_ENDING: Final = "API-Request:\n"
_FILLER: Final = "<filler>"
_TRIES: Final = 4000

_COMMON: Final = tuple(
    "after again air all back ball big blue book box boy bread car city cold cup dark day door dry east end face fall "
    "fast field fire fish five food friend game garden girl gold good green hand hard head high hill home horse hot "
    "house ice island key king lake land last left letter light line list long map market milk money moon morning "
    "music name new night north old open order paper park people place plan point power rain red rest right river "
    "road rock room sea ship short side sky small snow song sound south star stone story street summer sun table ten "
    "tree turn two wall warm water west white wind window winter wood work world year young".split()
)
"""Words that any tokenizer writes as one or two tokens."""


@dataclass(frozen=True)
class Task:
    """One prompt and its call, in API-Bank's format.

    Attributes
    ----------
    prompt_ids : tuple of int
    values : mapping
        Key -> text, in documentation order.
    call_ids : tuple of int
        The tokens of the call after the prompt.
    """

    prompt_ids: tuple[int, ...]
    values: Mapping[str, str]
    call_ids: tuple[int, ...]

    @property
    def pairs(self) -> dict[str, str]:
        """Key -> the key with its value as it is written."""
        return {key: f"{key}='{value}'" for key, value in self.values.items()}

    def text(self, order: Sequence[str] = ()) -> str:
        """Return the call with its keys in an order, by default in documentation order."""
        return OPENING + SEPARATOR.join(self.pairs[key] for key in order or self.values) + END


@dataclass(frozen=True)
class Workload:
    """The tool, the tasks of one batch, and how many values of each call occur in its prompt."""

    tool: ToolSpec
    tasks: tuple[Task, ...]
    copied_values: int


def make_workload(options: BenchOptions, batch: int, tokenizer: PreTrainedTokenizerBase, table: TokenTable) -> Workload:
    """Make the seeded tasks of one cell.

    Parameters
    ----------
    options : BenchOptions
        Says what prompts and values are like.
    batch : int
        Number of prompts that are decoded together.

    Raises
    ------
    EvalError
        If a prompt of this length cannot hold the documentation, or the tokenizer cannot write such values.
    """
    mean, names = options.prompt_tokens, _keys(options.required)
    docs = _documentation(names)
    [tool] = extract(docs, origin="<bench>").tools
    random = Random(f"{options.seed}/{batch}/{mean}/{options.required}/{options.value_tokens}/{options.copied}")
    copied = round(options.copied * options.required)
    tasks = []
    for _ in range(batch):
        length = round(mean * random.uniform(1 - RAGGED, 1 + RAGGED)) if batch > 1 else mean
        values = {key: _value(options.value_tokens, table, random) for key in names}
        said = [f"the {key.replace('_', ' ')} is {values[key]}" for key in random.sample(names, copied)]
        request = f"User: Please make an appointment{''.join(f', {each}' for each in said)}."
        filler = " ".join(random.choices(_COMMON, k=length))  # a word takes at least one token
        prompt = _prompt_ids(tokenizer, api_bank_prompt(docs, [_FILLER, request], ending=_ENDING), filler, length)
        task = Task(prompt, values, ())
        call = table.encode_after(table.join(prompt[-64:]), task.text().encode())
        tasks.append(Task(prompt, values, tuple(call)))
    return Workload(tool, tuple(tasks), copied)


def _value(tokens: int, table: TokenTable, random: Random) -> str:
    """Return words that the tokenizer writes in so many tokens behind a quote."""
    for _ in range(_TRIES):
        value = " ".join(random.choices(_COMMON, k=random.randint(1, tokens)))
        if len(table.encode_after(b"='", value.encode())) == tokens:
            return value
    raise EvalError(f"tokenizer {table.name}: found no value of exactly {tokens} tokens; try another --value-tokens")


def _prompt_ids(tokenizer: PreTrainedTokenizerBase, text: str, filler: str, length: int) -> tuple[int, ...]:
    """Return exactly ``length`` tokens of a prompt, with as many of the filler as there is room for."""
    before, after = text.split(_FILLER)
    begun = tokenizer.encode(f"{before}User: ")
    ended = tokenizer.encode(f"\n{after.lstrip()}", add_special_tokens=False)
    room = length - len(begun) - len(ended)
    if room < 0:
        raise EvalError(
            f"--prompt-tokens: the documentation, the instruction and the values that stand in the prompt take "
            f"{length - room} tokens, so that a prompt of {length} is too short"
        )
    return (*begun, *tokenizer.encode(filler, add_special_tokens=False)[:room], *ended)


def _keys(count: int) -> tuple[str, ...]:
    """Return the first ``count`` keys, of two words each; none is a prefix of another."""
    return tuple(f"{HEADS[n % 8]}_{TAILS[(n + n // 8) % 8]}" for n in range(count))


def _documentation(required: Sequence[str]) -> str:
    """Document one tool with these keys, in API-Bank's form."""
    row = {
        "name": TOOL,
        "description": "Makes an appointment and returns its number.",
        "input_parameters": {
            key: {"type": "str", "description": f"The {key.replace('_', ' ')} as the user gave it."} for key in required
        },
        "output_parameters": {"status": {"type": "str", "description": "success or failed"}},
    }
    return json.dumps(row)
