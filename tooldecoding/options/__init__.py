"""Options, each written once: the command line, YAML files, checks and the reference page are derived from them."""

from tooldecoding.options.decode_options import (
    PROMPT_CACHE_MB,
    TOOL_CHOICES,
    DecodeOptions,
    Strategy,
    changed,
    demand_full,
)

__all__ = ["PROMPT_CACHE_MB", "TOOL_CHOICES", "DecodeOptions", "Strategy", "changed", "demand_full"]
