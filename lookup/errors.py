"""Errors in a user's input. Every message says what was expected and what was found."""


class ToolDecodingError(Exception):
    """Base class of all errors caused by a user's input. The command line prints the message and exits with 2."""


class DocumentationError(ToolDecodingError):
    """Tool documentation that is empty, malformed or ambiguous, or that contains no tool."""


class MisreadError(DocumentationError):
    """Malformed documentation at an offset. ``extract`` turns the offset into file, line and column."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class LiteralError(ToolDecodingError):
    """Text that is not a valid JSON or Python literal.

    Attributes
    ----------
    position : int
        Offset of the first character that cannot be read.
    expected : str
        What was expected there.
    """

    def __init__(self, expected: str, position: int) -> None:
        super().__init__(f"expected {expected} at offset {position}")
        self.expected = expected
        self.position = position
