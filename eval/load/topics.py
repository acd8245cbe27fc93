"""Made-up tools, and requests that ask for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "city": ("Rome", "Paris", "Oslo", "Lima", "Cairo", "Tokyo", "Berlin", "Madrid", "Vienna", "Athens"),
    "person": ("Anna", "Boris", "Carla", "David", "Elena", "Farid", "Greta", "Hugo"),
    "place": ("Blue Door", "Old Mill", "Green Garden", "Harbour House", "Little Lantern", "Stone Oven"),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "subject": ("the budget", "the new office", "a birthday", "the harvest", "the old bridge", "a school trip"),
}


@dataclass(frozen=True)
class Topic:
    """A tool, and the sentence that asks for it.

    Attributes
    ----------
    tool : mapping
        In OpenAI's shape.
    sentence : str
        With places for values: ``{city}``, ``{number}``.
    """

    tool: Mapping[str, Any]
    sentence: str

    def ask(self, rng: Random) -> str:
        """Return the sentence with drawn values."""
        drawn = {name: rng.choice(values) for name, values in _VALUES.items()}
        return self.sentence.format(**drawn, number=rng.randint(2, 999))


def _topic(name: str, about: str, keys: Mapping[str, str], sentence: str) -> Topic:
    properties = {key: {"type": kind} for key, kind in keys.items()}
    parameters = {"type": "object", "properties": properties, "required": list(keys)}
    tool = {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}
    return Topic(tool, sentence)


TOPICS: Final = (
    _topic(
        "get_weather", "Get the weather forecast of a city.", {"city": "string", "days": "integer"},
        "What is the weather in {city} for the next {number} days?",
    ),
    _topic(
        "book_table", "Book a table in a restaurant.", {"restaurant": "string", "people": "integer", "day": "string"},
        "Book a table at {place} for {number} people on {day}.",
    ),
    _topic(
        "send_message", "Send a message to a person.", {"person": "string", "text": "string"},
        "Send a message to {person} about {subject}, it is number {number}.",
    ),
    _topic(
        "find_route", "Find the way between two cities.", {"origin": "string", "most_hours": "integer"},
        "Find me a way out of {city} that takes at most {number} hours.",
    ),
    _topic(
        "create_event", "Write an event into the calendar.", {"title": "string", "day": "string", "room": "integer"},
        "Make an event about {subject} on {day} in room {number}.",
    ),
    _topic(
        "order_parcel", "Let a parcel be fetched.", {"person": "string", "grams": "integer"},
        "A parcel of {number} grams for {person} has to be fetched.",
    ),
)  # fmt: skip
"""What requests are about."""
