"""One server with the reference model for all tests."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

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


@pytest.fixture(scope="session")
def client(server: "Running") -> Any:
    """The openai package, asking the server."""
    openai = pytest.importorskip("openai", reason="openai is not installed")
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0)
