"""What the weights of a GGUF file were quantised with.

The package ``gguf`` reads all tokens one by one before it says anything, which takes seconds. The field that names the
type is found here without it.
"""

import mmap
import struct
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

_FIELD: Final = b"general.file_type"
_FIRST: Final = 24
"""Where the fields begin: after the magic number, the version, and the numbers of tensors and fields."""

_WIDTHS: Final = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Kind of a number -> its bytes."""

_NUMBER, _TEXT, _LIST = 4, 8, 9
"""The kinds of an unsigned number of 32 bits, a text and a list."""


def weights_type(file: Path) -> str:
    """Return the type that the file states, such as ``Q4_K_M``, or else the type of most bytes of its tensors."""
    from gguf import GGUFReader, LlamaFileType

    with suppress(struct.error, KeyError, ValueError):  # an older form, or a type that the package does not know
        kind, _, name = LlamaFileType(_stated(file)).name.partition("_")
        if kind in ("ALL", "MOSTLY"):
            return name
    sizes = Counter[str]()
    for tensor in GGUFReader(file).tensors:
        sizes[tensor.tensor_type.name] += int(tensor.n_bytes)
    return sizes.most_common(1)[0][0]


def _stated(file: Path) -> int:
    """Return the number of the type that a file states; KeyError or struct.error if it does not."""
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        [fields] = struct.unpack_from("<Q", data, _FIRST - 8)
        place = _FIRST
        for _ in range(fields):
            start, place = place + 8, _end(data, place, _TEXT)
            name = data[start:place]
            [kind] = struct.unpack_from("<I", data, place)
            if name == _FIELD and kind == _NUMBER:
                return int(struct.unpack_from("<I", data, place + 4)[0])
            place = _end(data, place + 4, kind)
    raise KeyError(_FIELD)


def _end(data: mmap.mmap, place: int, kind: int) -> int:
    """Return where the value of this kind that begins at a place ends."""
    if kind == _TEXT:
        return place + 8 + int(struct.unpack_from("<Q", data, place)[0])
    if kind != _LIST:
        return place + _WIDTHS[kind]
    of, length = struct.unpack_from("<IQ", data, place)
    place += 12
    if of in _WIDTHS:
        return place + int(length) * _WIDTHS[of]
    for _ in range(length):
        place = _end(data, place, of)
    return place
