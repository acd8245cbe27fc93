"""Checks that text is Unicode text, which every tokenizer can read."""

from collections.abc import Sequence

from lookup.languages.codepoints import RESERVED_CHARACTER
from tooldecoding.errors import PromptError


def demand_writable(texts: Sequence[str]) -> None:
    """PromptError for lone surrogates, and for the characters that stand for special tokens."""
    demand_unicode(texts)
    for text in texts:
        if found := RESERVED_CHARACTER.search(text):
            raise PromptError(f"names and keys must not have the private character U+{ord(found[0]):X}: {text[:40]!r}")


def demand_unicode(texts: Sequence[str]) -> None:
    """PromptError for lone surrogates, which JSON can spell and no tokenizer can read."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            found = f"{ord(text[error.start]):04X}"
            raise PromptError(
                f"prompt and documentation must be Unicode text, found a lone surrogate U+{found} in {text[:40]!r}"
            ) from None
