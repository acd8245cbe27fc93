"""Pending text: its bytes are determined, its tokens are not. This page explains token boundaries.

**The problem.** A call is one string of bytes. Some parts are injected (keys, punctuation), others come from the model
(values, choices). The tokenizer ignores these borders: it writes ``='`` or ``')]`` as one token, and the model was
trained on that. If tokens ended where injected text ends, the model would see token sequences that it never saw in
training, and would write worse values. If a choice were offered as the tokens of isolated words, the token that the
model wants could be missing.

**The rule.** Determined text is kept as bytes. A token is *settled* (becomes part of the sequence that the model has
read) only if every permitted continuation begins with it, or if the model chose it::

    settled tokens       │ pending bytes       │ what may follow: a language of bytes
    [ Get Weather ( city │ = '                 │ any text, then ' and the next key
                         │
    on offer here:       │ =                     writes a beginning of the pending bytes
                         │ ='                    writes all of them
                         │ ='New                 writes all of them, and goes beyond in a permitted way

Three things happen with pending bytes:

1. They grow. Text is injected behind them (``write``), or the model ends a value or chooses a text. Its bytes are then
   determined, but the token that showed this may be longer (``')]``) and is not settled.
2. Their first tokens become sure. A token that reaches beyond the pending bytes begins at some place inside them.
   Byte-pair encoding writes the text before that place as if nothing followed. Only few places can begin such a token,
   because the vocabulary must have a longer token there. Tokens that are the same for all these places are sure: they
   are *forced* and need no decision (``sure``).
3. The model decides about the rest. A token that writes a beginning of the bytes is settled, and the rest stays
   pending. A token that goes beyond them decides what comes next. The tokenizer's own tokens of the pending bytes are
   fed along with the settled ones (*tried*, see ``Branch``), so that logits stand ready behind them, too: where the
   model agrees with its tokenizer, what is determined costs no forward pass of its own.

**A boundary is not a wish.** A model that likes the short token ``=`` may want ``=None``, which is not permitted. So a
token that leaves bytes pending is settled at once only if it is the tokenizer's own; otherwise both are weighed with
what is permitted behind them, as are a token and longer ones that begin with it (``tooldecoding.tokens.token_choice``).

Choices among names, optional keys, enum members and ends are languages of bytes in the same way
(``tooldecoding.tokens.trie``), values are too (``tooldecoding.decoding.value_state``): both say which bytes may
follow the pending ones, and never how these are cut into tokens.

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

from typing import NamedTuple

from tooldecoding.tokens.token_table import TokenTable

CONTEXT_BYTES = 128
"""So many bytes of the settled text are kept."""


class Pending(NamedTuple):
    """Determined bytes behind the settled tokens.

    Attributes
    ----------
    context : bytes
        The end of the settled text.
    text : bytes
        The determined text behind it.
    """

    table: TokenTable
    context: bytes
    text: bytes = b""

    def plus(self, text: bytes) -> "Pending":
        """Return this with more determined text."""
        return self._replace(text=self.text + text)

    def piece(self, token: int) -> bytes:
        """Return what a token adds behind the pending text."""
        return self.table.text(token)[len(self.text) :]

    def behind(self, token: int) -> "Pending":
        """Return what is pending after a token is settled. The token may go beyond the pending bytes."""
        written = self.table.text(token)
        return Pending(self.table, (self.context + written)[-CONTEXT_BYTES:], self.text[len(written) :])

    def sure(self, shared: bytes = b"") -> tuple[int, ...]:
        """Return the first tokens of every continuation, given that all continuations begin with ``shared``."""
        text = self.text + shared
        return self.table.sure_after(self.context, text) if text else ()

    def tokens(self, expected: bytes = b"") -> tuple[int, ...]:
        """Return the tokenizer's tokens of the pending text, with the text that is expected behind it.

        TokenizerError if the tokenizer cannot write the text.
        """
        text = self.text + expected
        return self.table.encode_after(self.context, text) if text else ()
