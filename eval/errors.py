"""Errors of evaluation that a user can mend."""

from lookup.errors import ToolDecodingError


class EvalError(ToolDecodingError):
    """Benchmark data, predictions or runs that cannot be used: which file and line, expected, got, what to do."""
