"""Errors that documentation can cause; every message says what was expected, what stood there and what to do."""


class ToolDecodingError(Exception):
    """Base of all errors that a user's input can cause; the command line prints it and exits with 2."""


class DocumentationError(ToolDecodingError):
    """Tool documentation that cannot be read: empty, malformed, without a tool, or ambiguous."""


class MisreadError(DocumentationError):
    """Malformed documentation at an offset. ``extract`` turns the offset into file, line and column."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class LiteralError(ToolDecodingError):
    """Text that is not one bounded JSON or Python literal.

    Attributes
    ----------
    position : int
        Offset of the first character that cannot be read.
    expected : str
        What would have been right there.
    """

    def __init__(self, expected: str, position: int) -> None:
        super().__init__(f"expected {expected} at offset {position}")
        self.expected = expected
        self.position = position
