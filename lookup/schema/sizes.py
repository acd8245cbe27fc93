"""The size of the smallest value of a schema, also of one that refers to itself.

A value that needs more than ``_MAX_DEPTH`` levels is taken to be impossible.
"""

import math
from typing import TYPE_CHECKING, Final

from lookup.schema.listing import listed_values
from lookup.schema.nodes import INFINITE, Branch, Constants, Lists, Numbers, Objects, Texts
from lookup.schema.number_range import NumberRange

if TYPE_CHECKING:
    from lookup.schema.conjunction import Conjunction

_MAX_DEPTH: Final = 50
_MAX_STEPS: Final = 20_000
_FAR: Final = 1 << 30


def smallest(conjunction: "Conjunction", known: "dict[Conjunction, int]") -> None:
    """Find the size of a schema and of those it needs, in characters of JSON, roughly."""
    _Search(known).size(conjunction)


def size_of_branch(branch: Branch, known: "dict[Conjunction, int]") -> int:
    """The size of the smallest value of a branch, roughly; ``INFINITE`` if it has none."""
    return _Search(known).branch(branch)


class _Search:
    """A schema inside itself has no smallest value there. What depends on such a guess is not kept."""

    def __init__(self, known: "dict[Conjunction, int]") -> None:
        self._known = known
        self._active: dict[Conjunction, int] = {}
        self._lowest = _FAR
        self._steps = 0

    def size(self, of: "Conjunction") -> int:
        known = self._known.get(of)
        if known is not None:
            return known
        if len(self._active) > _MAX_DEPTH:
            self._lowest = 0
            return INFINITE
        if of in self._active:
            self._lowest = min(self._lowest, self._active[of])
            return INFINITE
        before, self._lowest = self._lowest, _FAR
        place = self._active[of] = len(self._active)
        self._steps += 1
        node = of.node
        found = 1 if node.anything else min((self.branch(branch) for branch in node.branches), default=INFINITE)
        del self._active[of]
        if self._lowest >= place or self._steps > _MAX_STEPS:
            self._known[of] = found
            self._lowest = before
        else:
            self._lowest = min(before, self._lowest)
        return found

    def branch(self, branch: Branch) -> int:
        """See ``size_of_branch``."""
        match branch:
            case Constants(values):
                return min((len(str(value)) for value in values), default=INFINITE)
            case Texts():
                return _text(branch)
            case Numbers():
                return INFINITE if NumberRange(branch).is_empty else 1
            case Lists():
                return self._list(branch)
            case Objects():
                return self._object(branch)

    def _list(self, branch: Lists) -> int:
        items = [self.size(item) for item in branch.prefix[: branch.least]]
        more = branch.least - len(items)
        if more > 0:
            rest = INFINITE if branch.rest is None else self.size(branch.rest)
            if branch.unique and branch.rest is not None and _values(branch.rest) < more:
                return INFINITE
            items.append(rest if rest >= INFINITE else rest * more)
        return min(INFINITE, 2 + sum(items))

    def _object(self, branch: Objects) -> int:
        more = branch.least - len(branch.required)
        if more > 0 and branch.free is None and more > self._unrequired(branch):
            return INFINITE
        pairs = [len(key) + 4 + self.size(branch.keys[key]) for key in branch.required]
        return min(INFINITE, 2 + sum(pairs) + 4 * max(0, branch.least - len(pairs)))

    def _unrequired(self, branch: Objects) -> int:
        """How many named keys may stand there beside the required ones."""
        others = [key for name, key in branch.keys.items() if name not in branch.required]
        return sum(self.size(key) < INFINITE for key in others)


def _values(conjunction: "Conjunction") -> float:
    """How many values a schema allows, if they are listed; otherwise infinitely many."""
    listed = listed_values(conjunction)
    return math.inf if listed is None else len(listed)


def _text(branch: Texts) -> int:
    if branch.most is not None and branch.least > branch.most:
        return INFINITE
    language = branch.language
    if language is None:
        return 2
    return INFINITE if language.is_empty else 2 + len(language.rest(language.start))
