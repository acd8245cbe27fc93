"""Errors of the decoder that user input can cause."""

from lookup.errors import ToolDecodingError


class TokenizerError(ToolDecodingError):
    """The tokenizer cannot write the text of a call, or its tokens have no fixed text."""


class ModelError(ToolDecodingError):
    """The model cannot be loaded, or does not support a requested feature."""


class UpstreamError(ToolDecodingError):
    """A server that runs the model cannot be reached, refuses a request, or has another model than expected."""


class PromptError(ToolDecodingError):
    """A prompt, dialogue or batch row cannot be decoded."""


class ContextLengthError(PromptError):
    """A prompt leaves no room for an answer in the model's context."""


class ConfigError(ToolDecodingError):
    """A setting is unknown or invalid."""


class BindError(ToolDecodingError):
    """The arguments of a call are not those of a function."""


class MissingExtraError(ToolDecodingError):
    """A package of an optional extra is not installed."""


class ChatWarning(UserWarning):
    """A chat template leaves something out, or does not fit the call format."""
