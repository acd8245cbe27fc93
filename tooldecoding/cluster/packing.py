"""Groups as bytes. Tools that many prompts share are the same object again in the worker.

A decoder keeps what it has prepared for tools by the identity of their lookup dictionary.
"""

import pickle
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from typing import Any, Final

from lookup.dictionary import LookupDictionary

_KEPT: Final = 64
"""Lookup dictionaries that each side keeps."""


@dataclass(frozen=True)
class Packed:
    """A pickled value, and the lookup dictionaries in it by their digests."""

    data: bytes
    lookups: dict[str, bytes]


class Packer:
    """Packs values for a worker."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, tuple[LookupDictionary, str, bytes]] = OrderedDict()

    def pack(self, value: Any) -> Packed:
        """Return the value as bytes."""
        lookups: dict[str, bytes] = {}
        buffer = BytesIO()
        pickler = pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL)

        def key_of(part: Any) -> str | None:
            if not isinstance(part, LookupDictionary):
                return None
            key, data = self._pickled(part)
            lookups[key] = data
            return key

        pickler.persistent_id = key_of  # type: ignore[method-assign]
        pickler.dump(value)
        return Packed(buffer.getvalue(), lookups)

    def _pickled(self, lookup: LookupDictionary) -> tuple[str, bytes]:
        # the lookup is kept too, so that no other one gets its id
        if id(lookup) not in self._known:
            data = pickle.dumps(lookup, pickle.HIGHEST_PROTOCOL)
            self._known[id(lookup)] = lookup, sha256(data).hexdigest(), data
        self._known.move_to_end(id(lookup))
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return self._known[id(lookup)][1:]


class Unpacker:
    """Reads in a worker what the driver has packed."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, LookupDictionary] = OrderedDict()

    def unpack(self, packed: Packed) -> Any:
        """Return the value."""
        unpickler = pickle.Unpickler(BytesIO(packed.data))
        unpickler.persistent_load = lambda key: self._lookup(key, packed)  # type: ignore[method-assign]
        return unpickler.load()

    def _lookup(self, key: str, packed: Packed) -> LookupDictionary:
        if key not in self._known:
            self._known[key] = pickle.loads(packed.lookups[key])
        self._known.move_to_end(key)
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return self._known[key]
