"""Pending text: what is determined, while its tokens are not.

The page about token boundaries.

**The fault that is avoided.** A call is one string of bytes. Parts of it are injected (keys, punctuation), parts are
the model's (values, choices). The tokenizer knows no such parts: it writes ``='`` or ``')]`` as one token where its
merges say so, and the model was trained on that. If injected text were cut into tokens where it ends, the model would
see sequences that never occur, and would write worse values; and if a choice were offered in the tokens of isolated
words, the token that the model wants would be missing.

**The rule.** What is determined is kept as bytes. A token is *settled* (it becomes part of the sequence that the model
has read) only when every permitted continuation has it, or when the model itself has chosen it::

    settled tokens       │ pending bytes       │ what may follow: a language of bytes
    [ Get Weather ( city │ = '                 │ any text, then ' and the next key
                         │
    on offer here:       │ =                     writes a beginning of the pending bytes
                         │ ='                    writes all of them
                         │ ='New                 writes all of them, and goes beyond in a permitted way

Three things happen with pending bytes:

1. They grow: text is injected behind them (``write``), or the model ends a value or picks an alternative, whose bytes
   are then determined, though the token by which it said so may be longer (``')]``) and is not settled.
2. Their first tokens become sure. A token of the whole text that reaches beyond the pending bytes begins at some place
   in them; byte-pair encoding writes what stands before that place as if nothing followed. Only few places can be
   the beginning of such a token (its text must go on from there in the vocabulary), and the tokens that are the same
   for all of them are sure: they are *forced*, and cost no decision (``sure``).
3. At what is left, the model decides: a token that writes a beginning of the bytes is settled and the rest stays
   pending; one that goes beyond them decides what comes next. The tokenizer's own tokens of the pending bytes are
   fed along with the settled ones (*tried*, see ``Branch``), so that scores stand ready behind them, too: where the
   model agrees with its tokenizer, what is determined costs no forward pass of its own.

Choices among names, optional keys, enum members and ends are languages of bytes in the same way (``choices``), values
are too (``value_state``): both say which bytes may follow the pending ones, and never how these are cut into tokens.

**What others do.** *Token healing* of guidance (https://github.com/guidance-ai/guidance, "token healing" in its README;
S. Lundberg, "The Art of Prompt Design: Prompt Boundaries and Token Healing", 2023) takes back the prompt's last token
and lets the model begin with any token that its text is a beginning of. That is rule 3 with one token taken back
and no token that ends inside it; here any number of bytes may be pending, at every boundary, and shorter tokens
are on offer as well. *Byte-level automata* (llguidance, https://github.com/guidance-ai/llguidance) run a parser over a
trie of all token bytes and mask each token that the grammar refuses; forced bytes are turned into "fast-forward"
tokens, and where the last of them could be longer it is left to the model, too. That is the same freedom for a fixed
grammar. What is added here is that text is injected in an order that the model does not choose, that several such
orders share a pass, and that the sure tokens are found from the vocabulary itself.
"""

from dataclasses import dataclass

from tooldecoding.tokens.token_table import TokenTable

_CONTEXT_BYTES = 128


@dataclass(frozen=True, slots=True)
class Pending:
    """Determined bytes behind settled tokens.

    Attributes
    ----------
    context : bytes
        The end of the settled text.
    text : bytes
        What is determined behind it.
    """

    context: bytes
    text: bytes = b""

    def plus(self, text: bytes) -> "Pending":
        """With more determined text."""
        return Pending(self.context, self.text + text)

    def behind(self, token: bytes) -> "Pending":
        """What is left when a token of this text is settled, which may go beyond the pending bytes."""
        return Pending((self.context + token)[-_CONTEXT_BYTES:], self.text[len(token) :])

    def sure(self, table: TokenTable, shared: bytes = b"") -> tuple[int, ...]:
        """The first tokens that all continuations have, which all begin with ``shared``."""
        return table.sure_after(self.context, self.text + shared)

    def tokens(self, table: TokenTable, expected: bytes = b"") -> tuple[int, ...]:
        """The tokenizer's own tokens of the pending text, as it stands or with what is expected behind it.

        Raises
        ------
        TokenizerError
            If the tokenizer cannot write the text.
        """
        return table.encode_after(self.context, self.text + expected)
