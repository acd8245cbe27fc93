"""One server with the reference model for all tests."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from running_server import Running
    from tooldecoding.decoder import ToolDecoder


@pytest.fixture(scope="session")
def reference() -> "ToolDecoder":
    from tooldecoding.decoder import ToolDecoder

    return ToolDecoder.from_pretrained("reference", device="cpu")


@pytest.fixture(scope="session")
def server(reference: "ToolDecoder") -> Iterator["Running"]:
    from running_server import running

    with running(reference) as found:
        yield found
