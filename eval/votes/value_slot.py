"""The value slot: one question about a decoded call that has a right answer."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pydantic import BaseModel

Kind = Literal["required", "optional", "presence"]
KINDS: Final[tuple[Kind, ...]] = ("required", "optional", "presence")


class ValueSlot(BaseModel, frozen=True):
    """One question with a right answer: the value of a key, or whether an optional key is there.

    Attributes
    ----------
    id, dialogue, tool, key : str
    kind : {"required", "optional", "presence"}
        A required value; the value of an optional key that the reference has; whether an optional key is there, which
        it may be as in the reference with any value. Optional keys that the benchmark leaves open do not count.
    keys : int
        Required keys of the tool.
    type : str
        The documented type, or ``enum``.
    places : sequence of int
        The place of the key in each order, from 0; empty for optional keys.
    orders : sequence of bool
        Whether each order alone is right.
    votes : mapping
        Name of a vote -> whether it is right.
    """

    id: str
    dialogue: str
    tool: str
    key: str
    kind: Kind
    keys: int
    type: str
    places: Sequence[int]
    orders: Sequence[bool]
    votes: Mapping[str, bool]
