"""What the generator draws words from: one lexicon to train with, and a disjoint one to measure with."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from training.synthetic import words as w

VERB_GROUPS: tuple[tuple[str, ...], ...] = tuple(
    tuple(group.split())
    for group in (
        "book reserve schedule arrange",
        "create add make register set_up open new",
        "get fetch retrieve show look_up view read",
        "search find query look_for discover",
        "list show_all enumerate get_all",
        "delete remove erase clear drop",
        "cancel call_off abort",
        "update modify change edit adjust",
        "send deliver dispatch forward",
        "share post publish",
        "check verify validate inspect",
        "calculate compute work_out determine",
        "convert transform turn",
        "estimate predict forecast",
        "translate interpret",
        "compare contrast",
        "buy purchase order",
        "pay settle",
        "sell trade",
        "rent hire lease",
        "play start run launch",
        "stop pause halt end",
        "track follow monitor watch",
        "recommend suggest propose",
        "rate review score",
        "record log save store",
        "upload import attach",
        "download export",
        "assign allocate give",
        "move transfer relocate",
        "enable turn_on activate switch_on",
        "disable turn_off deactivate switch_off",
        "lock block",
        "unlock release",
        "approve accept confirm",
        "reject decline refuse",
        "analyze examine evaluate study",
        "summarize condense",
        "sort rank arrange_by",
        "filter narrow_down select",
        "generate produce build",
        "print display",
        "remind alert notify",
        "invite ask_to_join",
        "join enter sign_up_for",
        "leave quit exit",
        "repair fix",
        "return give_back refund",
        "measure count",
        "solve resolve",
    )
)
"""Verbs that mean nearly the same; the first ones name tools, all of them are said."""

NOUN_SYNONYMS: dict[str, tuple[str, ...]] = {
    "account": ("profile", "user account"),
    "appointment": ("visit", "consultation"),
    "bill": ("invoice", "charges"),
    "bus": ("coach",),
    "company": ("firm", "business"),
    "customer": ("client", "buyer"),
    "delivery": ("shipment", "parcel"),
    "device": ("gadget", "machine"),
    "doctor": ("physician",),
    "document": ("paper", "file"),
    "employee": ("worker", "staff member"),
    "error": ("mistake", "fault"),
    "event": ("happening", "occasion"),
    "exam": ("test",),
    "fee": ("charge", "cost"),
    "film": ("movie",),
    "flight": ("plane", "plane ticket"),
    "forecast": ("outlook", "prediction"),
    "gift": ("present",),
    "hotel": ("place to stay", "accommodation"),
    "house": ("home",),
    "image": ("picture", "photo"),
    "job": ("position", "work"),
    "journey": ("trip", "travel"),
    "loan": ("credit",),
    "location": ("place", "spot"),
    "mail": ("letter", "email"),
    "meal": ("food", "dinner"),
    "medicine": ("drug", "medication"),
    "meeting": ("get-together", "session"),
    "member": ("participant",),
    "message": ("text", "note"),
    "movie": ("film",),
    "note": ("memo",),
    "order": ("purchase",),
    "payment": ("transaction",),
    "phone": ("mobile",),
    "photo": ("picture", "image"),
    "price": ("cost", "rate"),
    "product": ("item", "article"),
    "property": ("house", "real estate"),
    "reservation": ("booking",),
    "restaurant": ("place to eat", "diner"),
    "reminder": ("alert", "note"),
    "ride": ("cab", "taxi"),
    "room": ("place",),
    "route": ("way", "directions"),
    "salary": ("pay", "wage"),
    "school": ("college",),
    "song": ("track", "tune"),
    "stock": ("share", "shares"),
    "store": ("shop",),
    "task": ("to-do", "job"),
    "ticket": ("admission",),
    "train": ("rail",),
    "vehicle": ("car",),
    "weather": ("weather conditions", "temperature"),
    "website": ("page", "site"),
}


@dataclass(frozen=True)
class Lexicon:
    """Words by what they are; each a list of entries."""

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
    """Every seventh entry is held out."""
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
    """A seeded source of randomness with the lexicon to draw from."""

    def __init__(self, seed: str, held_out: bool = False) -> None:
        super().__init__(seed)
        self.words = HELD_OUT if held_out else TRAINED

    def chance(self, probability: float) -> bool:
        """Whether something of this probability happens."""
        return self.random() < probability

    def pseudo_word(self, syllables: int | None = None) -> str:
        """A pronounceable word that no list holds, so that it can only be copied."""
        count = syllables or self.randint(2, 3)
        return "".join(
            self.choice("bcdfghjklmnprstvwz") + self.choice("aeiou") + self.choice(["", "n", "r", "s", "l"])
            for _ in range(count)
        )
