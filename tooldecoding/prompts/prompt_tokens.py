"""From what a prompt may be (a text, token ids, or messages) to token ids."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

from transformers import PreTrainedTokenizerBase

from tooldecoding.errors import PromptError
from tooldecoding.prompts.prompts import chat_prompt
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.unicode_text import demand_unicode

Prompt = str | Sequence[int] | Sequence[Mapping[str, Any]]
"""A text for the model, its token ids, or messages for the tokenizer's chat template."""

_EXPECTED = 'a text, token ids (a list of whole numbers) or messages (a list of {"role", "content"})'
_HINT = "; lists are lists or tuples, so give list(…) of another sequence and tolist() of an array or tensor"


class Written(NamedTuple):
    """A prompt as a request takes it.

    Attributes
    ----------
    content : str or list of int
    special_tokens : bool
        Whether the tokenizer may add special tokens; False after a chat template, which has written them.
    chat : bool
        Whether the chat template wrote it.
    """

    content: str | list[int]
    special_tokens: bool
    chat: bool = False


def read_prompts(prompt: Prompt | Sequence[Prompt], tokenizer: PreTrainedTokenizerBase) -> tuple[list[Written], bool]:
    """Return the prompts, and whether a single one was given.

    A list of whole numbers is one prompt of token ids, a list of messages is one dialogue, any other list is several
    prompts, and an empty list is no prompt. Lists are lists or tuples: a range, an array or a tensor is refused,
    because it may be meant as either.

    Raises
    ------
    PromptError
        For anything else, and for messages that the chat template refuses.
    ModelError
        For messages if the tokenizer has no chat template.
    """
    if isinstance(prompt, str) or (_is_list(prompt) and prompt and isinstance(prompt[0], int | Integral | Mapping)):
        return [_written(prompt, tokenizer, "the prompt")], True
    if not _is_list(prompt):
        raise PromptError(f"expected a prompt, {_EXPECTED}, or a list of prompts, got {type(prompt).__name__}{_HINT}")
    return [_written(p, tokenizer, f"prompt {n} of the list") for n, p in enumerate(prompt)], False


def _written(prompt: Any, tokenizer: PreTrainedTokenizerBase, name: str) -> Written:
    if isinstance(prompt, str):
        return Written(prompt, special_tokens=True)
    if not _is_list(prompt):
        raise PromptError(f"{name}: expected {_EXPECTED}, got {type(prompt).__name__}{_HINT}")
    if not prompt:
        raise PromptError(f"{name}: expected {_EXPECTED}, got an empty list")
    if isinstance(prompt[0], Mapping):
        return Written(_chat_text(prompt, tokenizer, name), special_tokens=False, chat=True)
    return Written(_whole_numbers(prompt, name), special_tokens=False)


def _chat_text(messages: Sequence[Any], tokenizer: PreTrainedTokenizerBase, name: str) -> str:
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            got = "no role" if isinstance(message, Mapping) else type(message).__name__
            raise PromptError(f'{name}: message {number}: expected {{"role": …, "content": …}}, got {got}')
    return chat_prompt(tokenizer, messages, [])


def _whole_numbers(ids: Sequence[Any], name: str = "the prompt") -> list[int]:
    for place, token in enumerate(ids):
        if isinstance(token, bool) or not isinstance(token, int | Integral):
            raise PromptError(f"{name}: token {place}: expected a whole number, got {type(token).__name__}")
    return [int(token) for token in ids]


def _is_list(prompt: object) -> bool:
    return isinstance(prompt, list | tuple)


def checked_ids(ids: Sequence[int], vocabulary: int) -> list[int]:
    """Return the token ids, checked.

    Raises
    ------
    PromptError
        For an id that is not a whole number, negative, or beyond the vocabulary.
    """
    tokens = _whole_numbers(ids)
    for place, token in enumerate(tokens):
        if not 0 <= token < vocabulary:
            raise PromptError(
                f"token {place} of the prompt is {token}, but the model's ids go from 0 to {vocabulary - 1}; "
                "tokenise the prompt with the model's own tokenizer"
            )
    return tokens


def text_ids(text: str, table: TokenTable, special_tokens: bool) -> list[int]:
    """Return the tokens of a text; adds the tokenizer's special tokens unless the text begins with them.

    A chat template writes the beginning-of-sequence token itself; no model was trained on prompts with two of them.

    Raises
    ------
    PromptError
        If the text is empty, or holds a lone surrogate.
    """
    demand_unicode([text])
    if not text:
        raise PromptError("the prompt is empty")
    plain = list(table.tokenizer.encode(text, add_special_tokens=False))
    if not special_tokens:
        return plain
    added = list(table.tokenizer.encode(text, add_special_tokens=True))
    front = next((n for n in range(len(added) - len(plain) + 1) if added[n : n + len(plain)] == plain), 0)
    first = next((n for n, token in enumerate(plain) if table.text(token).strip() or table.is_special(token)), 0)
    return plain if front and plain[first : first + front] == added[:front] else added
