"""What a value is expected to be, so that many of its tokens are tried in one forward pass.

Most values stand in the prompt, and orders mostly agree. A draft never decides anything: the tokens that the model
prefers are taken, whatever was tried.
"""

import re
from collections import Counter
from collections.abc import Iterable

from lookup.dictionary import ParameterSpec
from lookup.values.grammar import ValueGrammar, value_grammar
from tooldecoding.options import DecodeOptions

SHORTEST = 2
"""Characters of a value that must be written before they are looked up in the prompt."""
FROM_PROMPT = 40
"""Most characters that are expected because they stand in the prompt."""
_CHARACTERS_PER_TOKEN = 8
"""No tokenizer writes more in the mean, so that longer drafts would be cut anyway."""
_LOOKED_UP = 64
"""Most characters of a value's end that are looked up in the prompt."""
_STARTS = re.compile(r".*['\"\[({:,]\s*", re.DOTALL)
_ENDS = re.compile(r"[\n\"']")


class Drafts:
    """The literals that the orders of one call have written so far, and the prompt.

    Parameters
    ----------
    prompt : str
    options : DecodeOptions
    """

    def __init__(self, prompt: str, options: DecodeOptions) -> None:
        self._prompt = prompt
        self._form = options.call_format
        self._constraint = options.value_constraint
        self._longest = options.draft_tokens * _CHARACTERS_PER_TOKEN
        self._finished: dict[str, Counter[str]] = {}
        self._given: dict[str, str] = {}

    def note(self, key: str, literal: str) -> None:
        """An order has finished a value of a key."""
        self._finished.setdefault(key, Counter())[literal] += 1

    def expected(
        self, spec: ParameterSpec, grammar: ValueGrammar, written: str, coming: Iterable[ParameterSpec]
    ) -> str:
        """What is expected behind the literal ``written`` so far: its rest, and the keys that follow it.

        Parameters
        ----------
        coming : iterable of ParameterSpec
            Keys that are going to be injected behind the value.
        """
        literal = self._known(spec.name, written)
        if literal is None:
            return self._given_for(spec.name) if written == grammar.opener else self._in_prompt(written)
        text = literal[len(written) :]
        agreed = len(self._finished[spec.name]) == 1
        for following in coming:
            if not agreed or len(text) > self._longest:
                return text
            value = self._known(following.name, "")
            if value is None:
                value = value_grammar(following, self._form.notation, self._constraint).opener
            text += self._form.separator + self._form.key(following.name) + value
            agreed = len(self._finished.get(following.name, ())) == 1
        return text

    def _known(self, key: str, written: str) -> str | None:
        """The literal that most orders wrote for a key, of those that begin with ``written``."""
        fitting = {text: n for text, n in self._finished.get(key, Counter()).items() if text.startswith(written)}
        return max(fitting, key=lambda text: fitting[text]) if fitting else None

    def _given_for(self, key: str) -> str:
        """What the prompt says last in quotes behind the key: in an earlier call, or in what a tool has returned."""
        if key not in self._given:
            given = re.findall(rf"""\b{re.escape(key)}(?:=|["']: ?)["']([^"'\n]*["'])""", self._prompt)
            self._given[key] = given[-1] if given else ""
        return self._given[key]

    def _in_prompt(self, written: str) -> str:
        """What follows the last place in the prompt where the end of ``written`` stands."""
        begun = _STARTS.sub("", written, count=1)[-_LOOKED_UP:]
        if len(begun) < SHORTEST:
            return ""
        place = self._prompt.rfind(begun)
        if place < 0:
            return ""
        rest = self._prompt[place + len(begun) : place + len(begun) + FROM_PROMPT]
        return _ENDS.split(rest, maxsplit=1)[0]
