"""From what a prompt may be (a text, token ids, or messages) to token ids."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from tooldecoding.chat.messages import Conversation, read_messages
from tooldecoding.errors import PromptError
from tooldecoding.tokens.guarded_text import GuardedText, PromptText, encoded
from tooldecoding.tokens.token_table import TokenTable
from tooldecoding.tokens.token_texts import demand_unicode

Prompt = str | Sequence[int] | Sequence[Mapping[str, Any]]
"""A text for the model, its token ids, or messages for the tokenizer's chat template."""

_EXPECTED = 'a text, token ids (a list of whole numbers) or messages (a list of {"role", "content"})'
_HINT = "; lists are lists or tuples, so give list(…) of another sequence and tolist() of an array or tensor"


def read_prompts(prompt: Prompt | Sequence[Prompt]) -> tuple[list[str | list[int] | Conversation], bool]:
    """Return the prompts, and whether a single one was given.

    A list of whole numbers is one prompt of token ids, a list of messages is one dialogue, any other list is several
    prompts, and an empty list is no prompt. Lists are lists or tuples: a range, an array or a tensor is refused,
    because it may be meant as either.

    PromptError for anything else, and as ``read_messages``.
    """
    if not isinstance(prompt, str | list | tuple):
        raise PromptError(f"expected a prompt, {_EXPECTED}, or a list of prompts, got {type(prompt).__name__}{_HINT}")
    if isinstance(prompt, str) or (prompt and isinstance(prompt[0], int | Integral | Mapping)):
        return [_read(prompt, "the prompt")], True
    return [_read(p, f"prompt {n} of the list") for n, p in enumerate(prompt)], False


def _read(prompt: Any, name: str) -> str | list[int] | Conversation:
    if isinstance(prompt, str):
        return prompt
    if not isinstance(prompt, list | tuple):
        raise PromptError(f"{name}: expected {_EXPECTED}, got {type(prompt).__name__}{_HINT}")
    if not prompt:
        raise PromptError(f"{name}: expected {_EXPECTED}, got an empty list")
    if isinstance(prompt[0], Mapping):
        return read_messages(prompt, f"{name}: messages")
    return _whole_numbers(prompt, name)


def _whole_numbers(ids: Sequence[Any], name: str = "the prompt") -> list[int]:
    for place, token in enumerate(ids):
        if isinstance(token, bool) or not isinstance(token, int | Integral):
            raise PromptError(f"{name}: token {place}: expected a whole number, got {type(token).__name__}")
    return [int(token) for token in ids]


def checked_ids(ids: Sequence[int], vocabulary: int) -> list[int]:
    """Return the token ids, checked.

    PromptError for an id that is not a whole number, negative, or beyond the vocabulary.
    """
    tokens = _whole_numbers(ids)
    for place, token in enumerate(tokens):
        if not 0 <= token < vocabulary:
            raise PromptError(
                f"token {place} of the prompt is {token}, but the model's ids go from 0 to {vocabulary - 1}; "
                "tokenise the prompt with the model's own tokenizer"
            )
    return tokens


def text_ids(text: PromptText, table: TokenTable, special_tokens: bool) -> list[int]:
    """Return the tokens of a text; adds the tokenizer's special tokens unless the text begins with them.

    A chat template writes the beginning-of-sequence token itself; no model was trained on prompts with two of them.

    PromptError if the text is empty, or holds a lone surrogate.
    """
    demand_unicode([str(text)])
    if not str(text):
        raise PromptError("the prompt is empty")
    ids = encoded(text, table.tokenizer)
    if not special_tokens:
        return ids
    begun, plain = text, ids
    if isinstance(text, GuardedText):
        begun = text.parts[0]
        plain = encoded(begun, table.tokenizer)
    added = list(table.tokenizer.encode(str(begun), add_special_tokens=True))
    front = next((n for n in range(len(added) - len(plain) + 1) if added[n : n + len(plain)] == plain), 0)
    first = next((n for n, token in enumerate(plain) if table.text(token).strip() or table.is_special(token)), 0)
    if front and plain[first : first + front] == added[:front]:
        return ids
    return added if isinstance(text, str) else [*added[:front], *ids, *added[front + len(plain) :]]
