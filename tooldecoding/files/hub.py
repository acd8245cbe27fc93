"""Data sets on the Hugging Face hub: how they are named, and the errors of reading them."""

from typing import Final

HUB_PREFIX: Final = "hub:"
"""``hub:OWNER/NAME`` is a data set on the hub."""


def hub_errors() -> tuple[type[Exception], ...]:
    """What listing and reading may raise; HTTP clients differ between releases, their errors are bases of the hub's."""
    from huggingface_hub.errors import HfHubHTTPError

    bases = (b for b in HfHubHTTPError.__bases__ if issubclass(b, Exception) and b is not Exception)
    return OSError, ValueError, *bases
