"""Live objects and parsed data are read directly, anywhere in a list or a document."""

from typing import Any

import pytest
from pydantic import BaseModel

from lookup import DocumentationError, extract

DATA = {"name": "data", "description": "d", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}


def function(a: int, b: str = "x") -> None:
    """Does it."""


class Model(BaseModel):
    """Asks."""

    q: str


class ServerTool(BaseModel):
    name: str
    description: str
    inputSchema: dict[str, Any]


class ServerTools(BaseModel):
    tools: list[ServerTool]


class AgentTool:
    name, description = "agent", "Searches."

    def __init__(self) -> None:
        self.inputs = {"q": {"type": "string", "description": "d"}}

    def __call__(self, *args: Any, sanitize: bool = False) -> None: ...


class ChainTool:
    name, description, args_schema = "chain", "Asks.", Model


SERVED = ServerTool(name="served", description="d", inputSchema=DATA["parameters"])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (function, {"function": ["a", "b"]}),
        (Model, {"Model": ["q"]}),
        (SERVED, {"served": ["x"]}),
        (ServerTools(tools=[SERVED]), {"served": ["x"]}),
        ([DATA, function, Model, SERVED], {"data": ["x"], "function": ["a", "b"], "Model": ["q"], "served": ["x"]}),
        ({"tools": [function, DATA]}, {"function": ["a", "b"], "data": ["x"]}),
        ([DATA, [function]], {"data": ["x"], "function": ["a", "b"]}),
        ({"any": function}, {"function": ["a", "b"]}),
        ([AgentTool(), ChainTool()], {"agent": ["q"], "chain": ["q"]}),
        ([DATA, "def g(y: int): ..."], {"data": ["x"], "g": ["y"]}),
        (extract(DATA)["data"], None),
    ],
)
def test_live_objects_anywhere(source: Any, expected: dict[str, list[str]] | None) -> None:
    if expected is None:
        source, expected = [source], {"data": ["x"]}
    tools = extract(source, origin="here")
    assert {t.name: [p.name for p in t.parameters] for t in tools.tools} == expected
    assert list(tools) == list(expected)
    assert all(t.source and t.source.origin.startswith(("here", "<text>")) for t in tools.tools)


def test_a_list_of_themselves_is_an_error() -> None:
    endless: list[Any] = [DATA]
    endless.append(endless)
    with pytest.raises(DocumentationError, match="at most 64 levels"):
        extract(endless)
