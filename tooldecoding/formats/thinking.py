"""How models mark the thinking that they write before their answer."""

from typing import Final, NamedTuple


class Thinking(NamedTuple):
    """A pair of marks around a model's thinking.

    Attributes
    ----------
    opening, closing : str
    behind : str
        What the model writes between its thinking and its answer.
    """

    opening: str
    closing: str
    behind: str


THINKING: Final = (
    Thinking("<think>", "</think>", "\n\n"),  # Qwen 3, DeepSeek, GLM, MiniMax, Kimi, SmolLM3
    Thinking("[THINK]", "[/THINK]", ""),  # Magistral
    Thinking("<|channel>thought", "<channel|>", ""),  # Gemma 4
    Thinking("<|START_THINKING|>", "<|END_THINKING|>", ""),  # Command
    Thinking("<|channel|>analysis<|message|>", "<|end|>", "<|start|>assistant"),  # gpt-oss
)

MARKS: Final = (
    "<think>", "</think>", "[THINK]", "[/THINK]", "<|channel>", "<channel|>", "<|START_THINKING|>", "<|END_THINKING|>",
    "<|channel|>", "<|message|>", "<|end|>", "<|start|>",
)  # fmt: skip
"""Marks that models have as tokens of their own."""
