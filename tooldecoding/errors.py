"""Errors of the decoder that a user's input can cause."""

from lookup.errors import ToolDecodingError


class TokenizerError(ToolDecodingError):
    """A tokenizer that cannot write the text of a call, or whose tokens have no fixed text."""


class ModelError(ToolDecodingError):
    """A model that cannot be loaded, or that does not support what was asked of it."""


class PromptError(ToolDecodingError):
    """A prompt, dialogue or batch row that cannot be decoded."""


class ConfigError(ToolDecodingError):
    """An unknown or wrong setting."""


class MissingExtraError(ToolDecodingError):
    """A package is not installed that an extra brings."""
