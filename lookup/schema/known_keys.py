"""What schemas that hold together say of a few keys: early enough to see that they contradict each other."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from lookup.schema.document import Part
from lookup.schema.negation import Refused
from lookup.schema.plain_words import given_values
from lookup.schema.words import KINDS, Kind, identity, kinds_of, names

_NOT_IN: Final = frozenset({"const", "enum"})


class Known(NamedTuple):
    """What is known of a value.

    Attributes
    ----------
    kinds : frozenset of str
        The types that it may have.
    allowed, refused : mapping of str to frozenset
        Key -> the identities of the values that it may have, or may not have.
    required : frozenset of str
    absent : frozenset of str
        The keys that may not be there.
    """

    kinds: frozenset[Kind] = KINDS
    allowed: Mapping[str, frozenset[Any]] = {}
    refused: Mapping[str, frozenset[Any]] = {}
    required: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()

    def after(self, parts: Iterable[Part]) -> "Known | None":
        """What is known with more schemas; ``None`` if they contradict each other."""
        kinds, required, absent = self.kinds, set(self.required), set(self.absent)
        allowed, refused = dict(self.allowed), dict(self.refused)
        for part in parts:
            schema = part.schema
            if isinstance(schema, bool):
                continue
            kinds = kinds & kinds_of(schema)
            required.update(names(schema.get("required")))
            properties = schema.get("properties")
            for key, inner in properties.items() if isinstance(properties, dict) else ():
                if inner is False:
                    absent.add(key)
                elif isinstance(inner, dict):
                    _note(key, inner, allowed, refused)
        if not kinds:
            return None
        impossible = {key for key, values in allowed.items() if not values - refused.get(key, frozenset())}
        if kinds == {"object"} and required & (absent | impossible):
            return None
        return Known(kinds, allowed, refused, frozenset(required), frozenset(absent))


def _note(
    key: str, schema: Mapping[Any, Any], allowed: dict[str, frozenset[Any]], refused: dict[str, frozenset[Any]]
) -> None:
    """Note the values that one schema gives or refuses to a key."""
    values = given_values(schema)
    if values is not None:
        found = frozenset(map(identity, values))
        allowed[key] = allowed[key] & found if key in allowed else found
    inner = schema.get("not")
    if isinstance(inner, dict) and not _NOT_IN.isdisjoint(inner) and len(inner) == 1:
        refused[key] = refused.get(key, frozenset()) | frozenset(map(identity, given_values(inner) or ()))
    if Refused.VALUES in schema:
        refused[key] = refused.get(key, frozenset()) | frozenset(map(identity, schema[Refused.VALUES]))
