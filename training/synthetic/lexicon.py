"""The random source of the synthetic material, with its words: one lexicon for training, a disjoint one held out."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from training.synthetic import words as w


@dataclass(frozen=True)
class Lexicon:
    """Lists of words by category."""

    nouns: Sequence[str]
    modifiers: Sequence[str]
    first_names: Sequence[str]
    last_names: Sequence[str]
    cities: Sequence[str]
    us_cities: Sequence[str]
    countries: Sequence[str]
    companies: Sequence[str]
    dishes: Sequence[str]
    genres: Sequence[str]
    things: Sequence[str]
    places: Sequence[str]
    adjectives: Sequence[str]
    actions: Sequence[str]
    languages: Sequence[str]


def _part(entries: Sequence[str], held_out: bool) -> tuple[str, ...]:
    """Return the entries of one of the two lexicons; every seventh is held out."""
    distinct = list(dict.fromkeys(entries))
    return tuple(entry for number, entry in enumerate(distinct) if (number % 7 == 3) == held_out)


def _lexicon(held_out: bool) -> Lexicon:
    lists = (
        w.NOUNS, w.MODIFIERS, w.FIRST_NAMES, w.LAST_NAMES, w.CITIES, w.US_CITIES, w.COUNTRIES, w.COMPANIES, w.DISHES,
        w.GENRES, w.THINGS, w.PLACES, w.ADJECTIVES, w.ACTIONS, w.LANGUAGES,
    )  # fmt: skip
    return Lexicon(*(_part(entries, held_out) for entries in lists))


TRAINED, HELD_OUT = _lexicon(False), _lexicon(True)


class Draw(Random):
    """A seeded source of randomness with the lexicon to draw words from."""

    def __init__(self, seed: str, held_out: bool = False) -> None:
        super().__init__(seed)
        self.words = HELD_OUT if held_out else TRAINED

    def chance(self, probability: float) -> bool:
        """Return true with this probability."""
        return self.random() < probability

    def pseudo_word(self, syllables: int | None = None) -> str:
        """Draw a pronounceable word that is in no list, so that a model can only copy it."""
        count = syllables or self.randint(2, 3)
        return "".join(
            self.choice("bcdfghjklmnprstvwz") + self.choice("aeiou") + self.choice(["", "n", "r", "s", "l"])
            for _ in range(count)
        )
