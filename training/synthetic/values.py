"""Values: how a user says one, and what the call has."""

import string
from collections.abc import Callable
from typing import Any

from training.synthetic.lexicon import Draw
from training.synthetic.words import FOREIGN, NUMBER_WORDS

Sampler = Callable[[Draw], tuple[str, Any]]
"""Draws a value: what the user says, what the call has."""


def same(draw_text: Callable[[Draw], Any]) -> Sampler:
    """Draw values that the user says as the call has them."""

    def sample(d: Draw) -> tuple[str, Any]:
        value = draw_text(d)
        return str(value), value

    return sample


def one_of(field: str) -> Sampler:
    """Draw entries of a list of the lexicon."""
    return same(lambda d: d.choice(getattr(d.words, field)))


def first_name(d: Draw) -> str:
    """A given name."""
    return d.choice(d.words.first_names) if d.chance(0.8) else d.pseudo_word().capitalize()


def last_name(d: Draw) -> str:
    """A family name."""
    return d.choice(d.words.last_names) if d.chance(0.7) else d.pseudo_word().capitalize()


def person(d: Draw) -> str:
    """A given name, mostly with a family name."""
    return first_name(d) if d.chance(0.25) else f"{first_name(d)} {last_name(d)}"


def city(d: Draw) -> str:
    """A city, sometimes a made-up one."""
    return d.choice(d.words.cities) if d.chance(0.85) else d.pseudo_word().capitalize()


def city_and_state(d: Draw) -> tuple[str, str]:
    """``Boston, MA``, at times said as "Boston"."""
    name, state = d.choice(d.words.us_cities).split(":")
    written = f"{name}, {state}"
    return (name if d.chance(0.45) else written), written


def country_code(d: Draw) -> tuple[str, str]:
    """``FR``, often said as "France"."""
    name, code = d.choice(d.words.countries).split(":")
    return (name if d.chance(0.6) else code), code


def country(d: Draw) -> str:
    """The name of a country."""
    return d.choice(d.words.countries).split(":")[0]


def user_name(d: Draw) -> str:
    """``janedoe42``, ``JaneDoe``, ``jane_doe``, ``user7`` …"""
    first, last = d.choice(d.words.first_names), d.choice(d.words.last_names)
    number = str(d.randint(1, 9999)) if d.chance(0.5) else ""
    return d.choice(
        [
            f"{first.lower()}{last.lower()}{number}",
            f"{first}{last}{number}",
            f"{first.lower()}_{last.lower()}{number}",
            f"{d.pseudo_word()}{number}",
            f"user{d.randint(1, 99999)}",
        ]
    )


def password(d: Draw) -> str:
    """A password as in examples, or a random one."""
    if d.chance(0.5):
        return d.choice(["pass", "secret", "pw", "key", d.pseudo_word(), d.pseudo_word()]) + str(d.randint(0, 99999))
    alphabet = string.ascii_letters + string.digits + "!@#$%"
    return "".join(d.choice(alphabet) for _ in range(d.randint(5, 10)))


def token(d: Draw) -> str:
    """A random identifier of letters and digits."""
    if d.chance(0.5):
        return "".join(d.choice(string.ascii_lowercase + string.digits) for _ in range(d.randint(6, 18)))
    return "".join(d.choice(string.ascii_lowercase) + d.choice(string.digits) for _ in range(d.randint(4, 9)))


def identifier(d: Draw) -> str:
    """An id of digits, mostly with a prefix."""
    prefix = d.choice(["", "", "A", "ORD-", "ID", "TX_", "#", d.pseudo_word(1).upper() + "-"])
    return prefix + "".join(d.choice(string.digits) for _ in range(d.randint(3, 9)))


def phrase(d: Draw) -> str:
    """A short title or topic."""
    words = d.words
    adjective, thing, other = d.choice(words.adjectives), d.choice(words.things), d.choice(words.things)
    action = d.choice(words.actions).replace("_", " ")
    text = d.choice(
        [
            f"{adjective} {thing}",
            f"{action} the {thing}",
            f"{thing} with {person(d)}",
            f"{adjective} {thing} and {other}",
            f"{action} {first_name(d)}'s {thing}",
            f"{thing} about {other} in {city(d)}",
            f"{thing} {other}",
            f"how to {action} a {thing}",
            d.choice(FOREIGN),
            f"{d.pseudo_word()} {thing}",
        ]
    )
    return text[0].upper() + text[1:] if d.chance(0.4) else text


def sentence(d: Draw) -> str:
    """A short sentence, for messages and comments."""
    words = d.words
    subject = d.choice(["I", "We", "They", f"The {d.choice(words.things)}", first_name(d)])
    verb = d.choice(["will be", "was", "looks", "could be", "is not", "must be"])
    tail = d.choice([".", "!", "", " today.", " tomorrow.", f" in {city(d)}."])
    return f"{subject} {verb} {d.choice(words.adjectives)}{tail}"


def title(d: Draw) -> str:
    """The capitalised name of a work or a product."""
    words = d.words
    parts = d.choice(
        [
            ["The", d.choice(words.adjectives), d.choice(words.things)],
            [d.choice(words.things), "of", "the", d.choice(words.things)],
            [d.pseudo_word(), d.choice(words.things)],
            [d.pseudo_word(), str(d.randint(1, 99))],
            [d.choice(words.adjectives), d.choice(words.things)],
        ]
    )
    return " ".join(p if p in ("of", "the") else p.capitalize() for p in parts)


def street(d: Draw) -> str:
    """A street with its number."""
    name = d.choice([last_name(d), d.choice(d.words.adjectives).capitalize(), d.choice(d.words.things).capitalize()])
    return f"{d.randint(1, 999)} {name} {d.choice(['Street', 'Avenue', 'Road', 'Lane', 'St', 'Drive'])}"


def formula(d: Draw) -> str:
    """An arithmetic formula such as ``(12+7)*3``, or one in x."""
    text = str(d.randint(1, 99)) if d.chance(0.7) else "x"
    for _ in range(d.randint(1, 3)):
        text = f"{text}{d.choice(['+', '-', '*', '/', ' + ', ' * ', '**'])}{d.randint(1, 99)}"
        if d.chance(0.3):
            text = f"({text})"
    return text


def url(d: Draw) -> str:
    """A made-up web address."""
    site = d.choice([d.pseudo_word(), d.choice(d.words.things)])
    thing = d.choice(d.words.things)
    path = d.choice(["", f"/{thing}", f"/{thing}/{d.randint(1, 999)}.png"])
    return f"https://{d.choice(['www.', ''])}{site}.{d.choice(['com', 'org', 'net', 'io'])}{path}"


def email(d: Draw) -> str:
    """A made-up mail address."""
    return f"{user_name(d)}@{d.choice(['example.com', 'mail.org', d.pseudo_word() + '.com'])}"


def phone(d: Draw) -> str:
    """A made-up phone number."""
    return d.choice(["{}-{}-{}", "({}) {}-{}", "+1 {} {} {}"]).format(
        d.randint(100, 999), d.randint(100, 999), d.randint(1000, 9999)
    )


def path(d: Draw) -> str:
    """A path of a file."""
    folders = [d.choice([d.choice(d.words.things), d.pseudo_word()]) for _ in range(d.randint(0, 2))]
    name = d.choice([d.choice(d.words.things), d.pseudo_word()])
    ending = d.choice([".txt", ".csv", ".json", ".py", ".png", ".pdf", ""])
    return d.choice(["/", "./", "", "/home/", "C:\\"]) + "/".join([*folders, name]) + ending


def code(d: Draw) -> str:
    """A line of code or a command."""
    a, b = d.choice([d.pseudo_word(1), "x", "value", "data"]), d.choice(d.words.things)
    return d.choice(
        [
            f"print({a})",
            f"SELECT {a} FROM {b} WHERE id = {d.randint(1, 99)}",
            f"SELECT * FROM {b}",
            f"def {a}(n): return n + {d.randint(1, 9)}",
            f"{a} = [{d.randint(1, 9)}, {d.randint(1, 9)}]",
            f"ls -l /{b}",
            f"git checkout {b}",
            f"mkdir {a}_{b}",
            f"echo {a}",
            f"{a}['{b}']",
            f'{a} == "{b}"',
        ]
    )


def upper_code(d: Draw) -> str:
    """Two to five capitals, such as a ticker symbol."""
    return "".join(d.choice(string.ascii_uppercase) for _ in range(d.randint(2, 5)))


def whole(low: int, high: int) -> Sampler:
    """Draw whole numbers; users say some small ones in words and some large ones with separators."""

    def sample(d: Draw) -> tuple[str, int]:
        value = d.randint(low, high) if d.chance(0.7) or high < 100 else d.randint(-(-low // 100), high // 100) * 100
        if 0 <= value <= 20 and d.chance(0.3):
            return NUMBER_WORDS[value], value
        if value >= 1000 and d.chance(0.4):
            return f"{value:,}", value
        return str(value), value

    return sample


def decimal(low: float, high: float, signed: bool = False) -> Sampler:
    """Draw decimal numbers; users often say a whole one without its point."""

    def sample(d: Draw) -> tuple[str, float]:
        value = round(d.uniform(low, high), d.choice([1, 1, 2, 2, 3]))
        if d.chance(0.3):
            value = float(round(value))
        if signed and d.chance(0.3):
            value = -value
        said = str(int(value)) if value == int(value) and d.chance(0.7) else str(value)
        return said, value

    return sample


def joined(d: Draw, parts: list[str]) -> str:
    """Return ``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + d.choice([" and ", ", and ", ", "]) + parts[-1]


def listed(sample: Sampler, low: int = 1, high: int = 4) -> Sampler:
    """Draw lists of distinct values, said as ``a, b and c``; numbers at times as the call has them."""

    def draw(d: Draw) -> tuple[str, list[Any]]:
        found: dict[str, tuple[str, Any]] = {}
        for _ in range(d.randint(low, high)):
            said, value = sample(d)
            found.setdefault(str(value), (said, value))
        values = [value for _, value in found.values()]
        if not isinstance(values[0], str) and d.chance(0.4):
            return str(values), values
        return joined(d, [said for said, _ in found.values()]), values

    return draw
