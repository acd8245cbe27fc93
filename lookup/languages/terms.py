"""Terms: the texts that may follow, as regular expressions with intersection, complement and counted repeats.

What may follow behind a character is a term again, the derivative (Brzozowski 1964; Owens, Reppy and Turon 2009). A
term is written with its continuation, so that lookaheads are intersections: ``(?=a)b`` before ``k`` is ``a…`` and
``bk``. Equal terms are one object.
"""
# ruff: noqa: D102 - overriding methods are documented in the base class

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property, lru_cache, reduce
from typing import Any, Final
from weakref import WeakValueDictionary

from lookup.languages.codepoints import EVERY, WORD
from lookup.languages.limits import MAX_OPTIONAL, MAX_SIZE, TooLarge
from lookup.languages.syntax_tree import Characters, Choice, Edge, Look, Node, Repeat, Sequence, characters

ENDLESS: Final = 1 << 60
"""More characters than any text has."""

_NONWORD, _WORD, _ALWAYS = 1, 2, 3


def contains(one: Characters, point: int) -> bool:
    """Whether a set has a code point."""
    return bisect_right(one.points, point) % 2 == 1


class Term(ABC):
    """A set of texts.

    Attributes
    ----------
    least, most : int
        Bounds on the characters of a text.
    has_least : bool
        Whether there surely is a text of ``least`` characters.
    has_all_lengths : bool
        Whether there surely is a text of each number of characters between the bounds.
    max_completion : int
        Upper bound on the characters that complete a text that has begun; ``ENDLESS`` if none is known.
    nullable : int
        Whether the empty text is one, as bits: behind a character that is of no word (1), and behind one of a word (2).
        ``a*`` has both (3), ``a`` none (0), ``\\b`` at the end of a text only the second.
    looks_back : bool
        Whether what may follow depends on the character before.
    depth, size : int
        How deep, and how many, alternatives and conditions hold at the beginning.
    heads : frozenset of Characters
        The sets that tell apart how a text may begin.
    """

    least = 0
    most = ENDLESS
    has_least = False
    has_all_lengths = False
    max_completion = ENDLESS
    nullable = 0
    looks_back = False
    depth = 0
    size = 1
    _beginnings: Iterable["Term"] = ()

    @cached_property
    def heads(self) -> frozenset[Characters]:
        """See the class."""
        return frozenset[Characters]().union(*[one.heads for one in self._beginnings])

    @abstractmethod
    def derive(self, point: int, after_word: bool) -> "Term":
        """See ``derivative``."""

    def _check(self) -> None:
        if self.depth > MAX_OPTIONAL or self.size > MAX_SIZE:
            raise TooLarge(f"more than {MAX_SIZE} alternatives and conditions hold side by side")


@lru_cache(maxsize=1 << 14)
def derivative(term: Term, point: int, after_word: bool) -> Term:
    """What may follow behind a character; ``after_word``: which follows a character of a word.

    Of ``ab*c`` behind ``a``: ``b*c``; of this again ``b*c`` behind ``b``, the empty text behind ``c``. Of ``[a-z]+``
    with a length of 2 to 4 behind ``x``: ``[a-z]*`` with a length of 1 to 3.
    """
    return term.derive(point, after_word)


class _Given(Term):
    """No text at all, or the empty text only."""

    def __init__(self, least: int, most: int, nullable: int) -> None:
        self.least, self.most, self.nullable = least, most, nullable
        self.has_least = self.has_all_lengths = nullable == _ALWAYS
        self.max_completion = 0

    def derive(self, point: int, after_word: bool) -> Term:
        return NEVER


class _Read(Term):
    """A character of a set, and what follows."""

    def __init__(self, one: Characters, then: Term) -> None:
        self._one, self._then = one, then
        self.least, self.most = 1 + then.least, min(1 + then.most, ENDLESS)
        self.has_least, self.has_all_lengths = then.has_least, then.has_all_lengths
        self.looks_back = then.looks_back
        self.max_completion = max(self.least, then.max_completion)
        self.heads = frozenset((one,))

    def derive(self, point: int, after_word: bool) -> Term:
        return self._then if contains(self._one, point) else NEVER


class Loop(Term):
    """A part ``fewest`` to ``many`` times, and what follows."""

    def __init__(self, repeated: Repeat, then: Term) -> None:
        self.part, self.fewest, self.many, self.then = repeated.part, repeated.least, repeated.most, then
        self._repeated = repeated
        self.looks_back = then.looks_back or not self.part.is_plain
        self.depth = 1 + then.depth
        self._check()
        if not self.part.is_plain:
            self.least = 0 if self.fewest else then.least
            self.nullable = concat(self.part.empty, then).nullable if self.fewest else then.nullable
            return
        part = inside(self.part)
        many = ENDLESS if self.many is None else self.many
        self.least = self.fewest * part.least + then.least
        self.most = min(many * part.most + then.most, ENDLESS)
        self.has_least = part.has_least and then.has_least
        others = max(self.fewest - 1, 0) * part.least + then.least
        self.max_completion = max(self.least, part.max_completion + others, then.max_completion)
        touching = (self.fewest + 1) * part.least <= self.fewest * part.most + 1
        self.has_all_lengths = part.has_all_lengths and then.has_all_lengths and (touching or many == self.fewest)
        self.nullable = 0 if self.fewest else then.nullable

    @cached_property
    def _beginnings(self) -> list[Term]:  # type: ignore[override]
        """The ways to begin: with one of the parts, or with what follows."""
        found = [concat(self._repeated.solid, self.then)]
        if not self.fewest:
            found.append(self.then)
        elif not self.part.is_plain:
            found.append(concat(self.part.empty, self.then))
        return found

    def derive(self, point: int, after_word: bool) -> Term:
        return union(derivative(way, point, after_word) for way in self._beginnings)


class _Several(Term):
    """Terms side by side."""

    def __init__(self, parts: frozenset[Term]) -> None:
        self.parts = self._beginnings = parts
        self.looks_back = any(part.looks_back for part in parts)
        self.depth = 1 + max(part.depth for part in parts)
        self.size = sum(part.size for part in parts)
        self._check()


class _Union(_Several):
    """The texts of at least one term."""

    def __init__(self, parts: frozenset[Term]) -> None:
        super().__init__(parts)
        self.least = min(part.least for part in parts)
        self.most = max(part.most for part in parts)
        self.has_least = any(part.has_least and part.least == self.least for part in parts)
        self.nullable = reduce(lambda bits, part: bits | part.nullable, parts, 0)
        self.max_completion = max(part.max_completion for part in parts)
        if all(part.has_all_lengths for part in parts):
            reached = self.least
            for part in sorted(parts, key=lambda part: part.least):
                reached = max(reached, part.most) if part.least <= reached + 1 else -1
            self.has_all_lengths = reached == self.most

    def derive(self, point: int, after_word: bool) -> Term:
        return union(derivative(part, point, after_word) for part in self.parts)


class _Intersection(_Several):
    """The texts of all terms."""

    def __init__(self, parts: frozenset[Term]) -> None:
        super().__init__(parts)
        self.nullable = reduce(lambda bits, part: bits & part.nullable, parts, _ALWAYS)
        self.least = max(*[part.least for part in parts], 0 if self.nullable else 1)
        self.most = min(part.most for part in parts)
        lengths = [part for part in parts if _is_length(part)]
        others = [part for part in parts if not _is_length(part)]
        self.has_least = self.nullable == _ALWAYS
        if lengths and len(others) == 1:
            self.has_all_lengths = others[0].has_all_lengths
            self.has_least |= self.has_all_lengths or (others[0].has_least and others[0].least == self.least)
            if self.has_all_lengths or not lengths[0].least:
                self.max_completion = max(others[0].max_completion, lengths[0].least)
        self.max_completion = min(self.max_completion, self.most)

    def derive(self, point: int, after_word: bool) -> Term:
        return intersection(derivative(part, point, after_word) for part in self.parts)


class _Complement(Term):
    """All other texts."""

    def __init__(self, inner: Term) -> None:
        self.inner, self._beginnings = inner, (inner,)
        self.looks_back, self.depth, self.size = inner.looks_back, 1 + inner.depth, inner.size
        self._check()
        self.nullable = _ALWAYS & ~inner.nullable
        self.has_least = self.nullable == _ALWAYS
        self.least = 0 if self.nullable else 1

    def derive(self, point: int, after_word: bool) -> Term:
        return complement(derivative(self.inner, point, after_word))


class _Boundary(Term):
    """What follows, if a word begins or ends here, or if none does."""

    def __init__(self, wanted: bool, then: Term) -> None:
        self.wanted, self.then = wanted, then
        self.looks_back, self.depth = True, 1 + then.depth
        self._check()
        self.least, self.most = then.least, then.most
        self.nullable = then.nullable & (_WORD if wanted else _NONWORD)

    @cached_property
    def heads(self) -> frozenset[Characters]:
        return self.then.heads | {characters(WORD)}

    def derive(self, point: int, after_word: bool) -> Term:
        is_boundary = contains(characters(WORD), point) != after_word
        return derivative(self.then, point, after_word) if is_boundary == self.wanted else NEVER


_KNOWN: "WeakValueDictionary[Any, Term]" = WeakValueDictionary()


def _made(kind: Any, *parts: Any) -> Term:
    """The term of a kind with these parts; the same object for the same parts."""
    found: Term | None = _KNOWN.get((kind, *parts))
    if found is None:
        found = _KNOWN[(kind, *parts)] = kind(*parts)
    return found


NEVER: Final[Term] = _Given(ENDLESS, -1, 0)
END: Final[Term] = _Given(0, 0, _ALWAYS)
_ANY: Final = characters(EVERY)
BEFORE: Final = Repeat(_ANY, 1, None)


@lru_cache(maxsize=4096)
def _repeated(part: Node, least: int, most: int | None) -> Repeat:
    """The same node for the same repetition."""
    return Repeat(part, least, most)


def _loop(part: Node, least: int, most: int | None, then: Term) -> Term:
    if then is NEVER or most == 0:
        return then
    if part.is_plain:
        one = inside(part)
        if one is END or (one is NEVER and not least):
            return then
        if one is NEVER:
            return NEVER
        if one.nullable:
            part, least = part.solid, 0
    if then is ALL:
        most = least
        if not least:
            return ALL
    if isinstance(then, Loop) and then.part is part:
        most = None if most is None or then.many is None else most + then.many
        least, then = least + then.fewest, then.then
    return _made(Loop, _repeated(part, least, most), then)


def _is_length(term: Term) -> bool:
    return isinstance(term, Loop) and term.part is _ANY and term.then is END


def length(least: int, most: int | None) -> Term:
    """The texts of ``least`` to ``most`` characters."""
    if most is not None and most < least:
        return NEVER
    return _made(Loop, _repeated(_ANY, least, most), END) if most != 0 else END


def union(terms: Iterable[Term]) -> Term:
    """The texts of at least one term: of ``a`` and ``b``, those of ``a|b``; of ``a{2}`` and ``a{3,5}``, ``a{2,5}``."""
    found: set[Term] = set()
    for term in terms:
        found.update(term.parts if isinstance(term, _Union) else (term,))
    found.discard(NEVER)
    if ALL in found:
        return ALL
    if len(found) > 1:
        found = _united(found)
    return next(iter(found)) if len(found) == 1 else _made(_Union, frozenset(found)) if found else NEVER


def _united(terms: set[Term]) -> set[Term]:
    """The same terms, with loops of one part before the same as one, if their counts touch."""
    groups: dict[Any, list[Loop]] = {}
    for term in terms:
        if isinstance(term, Loop):
            groups.setdefault((term.part, term.then), []).append(term)
    for (part, then), loops in groups.items():
        if len(loops) == 1:
            continue
        terms = terms.difference(loops)
        loops.sort(key=lambda loop: loop.fewest)
        if then is ALL:
            loops = loops[:1]
        least, most = loops[0].fewest, loops[0].many
        for loop in loops[1:]:
            if most is not None and loop.fewest > most + 1:
                terms.add(_loop(part, least, most, then))
                least, most = loop.fewest, loop.many
            elif most is not None:
                most = None if loop.many is None else max(most, loop.many)
        terms.add(_loop(part, least, most, then))
    return terms


def intersection(terms: Iterable[Term]) -> Term:
    """The texts of all terms: of ``[ab]*`` and ``.{2}``, those of ``[ab]{2}``; of ``a`` and what is not ``a``, none."""
    found: set[Term] = set()
    for term in terms:
        found.update(term.parts if isinstance(term, _Intersection) else (term,))
    found.discard(ALL)
    lengths = [term for term in found if isinstance(term, Loop) and _is_length(term)]
    if len(lengths) > 1:
        most = min((loop.many for loop in lengths if loop.many is not None), default=None)
        found = found.difference(lengths) | {length(max(loop.fewest for loop in lengths), most)}
    refused = {term.inner for term in found if isinstance(term, _Complement)}
    refused.update(*[term.parts for term in refused if isinstance(term, _Union)])
    if NEVER in found or not found.isdisjoint(refused):
        return NEVER
    if len(found) < 2:
        return next(iter(found), ALL)
    made = _made(_Intersection, frozenset(found))
    if made.least > made.most:
        return NEVER
    return END if made.most == 0 and made.nullable == _ALWAYS else made


def complement(term: Term) -> Term:
    """All other texts: of ``a``, the empty text, ``b``, ``aa``, and so on."""
    if isinstance(term, _Complement):
        return term.inner
    return ALL if term is NEVER else NEVER if term is ALL else _made(_Complement, term)


def concat(node: Node, then: Term) -> Term:
    """A part of a pattern, and what follows: ``(?=a)`` before ``[ab]c`` is the intersection of ``a…`` and ``[ab]c``."""
    match node:
        case Characters(points):
            return _made(_Read, node, then) if points and then is not NEVER else NEVER
        case Sequence(parts):
            for part in reversed(parts):
                then = concat(part, then)
            return then
        case Choice(parts):
            return union(concat(part, then) for part in parts)
        case Repeat(part, least, most):
            return _loop(part, least, most, then)
        case Look(part, negative):
            ahead = concat(part, ALL)
            return intersection((complement(ahead) if negative else ahead, then))
        case Edge("end"):
            return END if then.nullable == _ALWAYS else intersection((END, then)) if then.nullable else NEVER
        case Edge(kind):
            return _boundary(kind == "boundary", then)
    raise TypeError(f"no part of a pattern: {node!r}")


def _boundary(wanted: bool, then: Term) -> Term:
    if isinstance(then, _Boundary):
        return then if then.wanted == wanted else NEVER
    return then if then is NEVER else _made(_Boundary, wanted, then)


@lru_cache(maxsize=4096)
def inside(node: Node) -> Term:
    """The texts of a part of a pattern that stands alone."""
    return concat(node, END)


ALL: Final[Term] = length(0, None)


def of_texts(texts: Iterable[str]) -> Term:
    """The given texts."""
    behind: list[dict[str, int]] = [{}]
    ends = set()
    for text in texts:
        state = 0
        for character in text:
            state = behind[state].setdefault(character, len(behind))
            if state == len(behind):
                behind.append({})
        ends.add(state)
    terms: dict[int, Term] = {}
    for state in range(len(behind) - 1, -1, -1):
        found = [END] if state in ends else []
        for character, target in behind[state].items():
            found.append(concat(characters((ord(character), ord(character) + 1)), terms.pop(target)))
        terms[state] = union(found)
    return terms[0]
