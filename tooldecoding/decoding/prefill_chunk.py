"""How much of a prompt one forward pass may take beside what others feed: long prompts are fed in chunks."""

from typing import Final

_MOST: Final = 1.75
_ROOM: Final = 1.4
"""A pass with a chunk of a prompt takes between so many times as long as one without."""
_SMALLEST: Final = 0.25
_LARGEST: Final = 64.0
_NEW: Final = 0.2
"""Weight of the latest pass in the mean."""


class PrefillChunkSize:
    """How much of a prompt one pass may take beside what others feed, from the time of passes.

    A size is a factor of the engine's chunk, which costs about as much as a pass by itself. No answer depends on it.
    """

    def __init__(self) -> None:
        self._factor = 1.0
        self._plain: float | None = None  # seconds of a pass without a prompt

    def of(self, chunk: int) -> int:
        """Return the size, at least one token."""
        return max(1, int(chunk * self._factor))

    def note_plain(self, seconds: float) -> None:
        """Note a pass without a prompt."""
        self._plain = seconds if self._plain is None else self._plain + _NEW * (seconds - self._plain)

    def note_mixed(self, seconds: float, is_full: bool) -> None:
        """Note a pass with other feeds and a prompt; ``is_full`` says that it took all that it may."""
        if self._plain is None:
            return
        if seconds > _MOST * self._plain:
            self._factor = max(_SMALLEST, self._factor * 0.8)
        elif is_full and seconds < _ROOM * self._plain:
            self._factor = min(_LARGEST, self._factor * 1.25)
