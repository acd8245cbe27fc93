"""Tool calls from any causal LM: names and keys always valid, values voted over several orders."""

from typing import Any

__all__ = ["DecodeOptions", "DecodeResult", "Request", "ToolDecoder", "chat_inputs", "tool_decoding"]

_HOMES = {
    "DecodeOptions": "tooldecoding.options",
    "DecodeResult": "tooldecoding.result",
    "Request": "tooldecoding.request",
    "ToolDecoder": "tooldecoding.decoder",
    "chat_inputs": "tooldecoding.generate.method",
    "tool_decoding": "tooldecoding.generate.method",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: torch takes seconds to load, ``lookup`` needs none."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tooldecoding' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
