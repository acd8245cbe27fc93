"""What schemas that hold together say of a few keys: early enough to see that they contradict each other."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lookup.schema.schema import NOTHING, Made, Schema
from lookup.schema.words import KINDS, Kind, identity


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

    def after(self, schemas: Iterable[Schema]) -> "Known | None":
        """What is known with more schemas; ``None`` if they contradict each other."""
        kinds, required, absent = self.kinds, set(self.required), set(self.absent)
        allowed, refused = dict(self.allowed), dict(self.refused)
        for schema in schemas:
            kinds = kinds & schema.kinds
            required.update(schema.words.get("required", ()))
            for key, inner in schema.words.get("properties", {}).items():
                if inner is NOTHING:
                    absent.add(key)
                    continue
                if "enum" in inner.words:
                    allowed[key] = allowed[key] & inner.members if key in allowed else inner.members
                refused[key] = refused.get(key, frozenset()) | _refused(inner)
        if not kinds:
            return None
        impossible = {key for key, values in allowed.items() if not values - refused.get(key, frozenset())}
        if kinds == {"object"} and required & (absent | impossible):
            return None
        return Known(kinds, allowed, refused, frozenset(required), frozenset(absent))


def _refused(schema: Schema) -> frozenset[Any]:
    """The identities of the values that a schema refuses by name."""
    found = frozenset(map(identity, schema.words.get(Made.VALUES, ())))
    inner = schema.words.get("not")
    if inner is not None and "enum" in inner.words and inner.words.keys() <= {"enum", "type"}:
        found |= inner.members
    return found
