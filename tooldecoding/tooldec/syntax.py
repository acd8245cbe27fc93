"""How a call is written: the fixed pieces between names, keys and values, for each form of TOOLDEC."""

from collections.abc import Callable
from dataclasses import dataclass

from lookup.values.literal_writer import render_json
from lookup.values.notations import Notation
from tooldecoding.formats.call_format import CallFormat


@dataclass(frozen=True)
class CallSyntax:
    """The fixed pieces of a call.

    Attributes
    ----------
    trigger : str
        What starts tool mode when the model writes it; ``opener`` begins with it.
    opener, closer : str
        Around all calls.
    bracket, end : str
        Around the arguments of a call.
    keys : callable
        Name of a key -> the texts that may stand before its value.
    separators : tuple of str
        What may stand between two arguments, and between two calls.
    parallel : bool
        Whether several calls may stand between opener and closer.
    """

    notation: Notation
    trigger: str
    opener: str
    bracket: str
    keys: Callable[[str], tuple[str, ...]]
    separators: tuple[str, ...]
    end: str
    closer: str
    parallel: bool

    @classmethod
    def of(cls, form: CallFormat) -> "CallSyntax":
        """The syntax of a call format: ``[Name(key=value, key=value)]``."""
        return cls(
            notation=form.notation,
            trigger=form.opener,
            opener=form.opener,
            bracket=form.bracket,
            keys=lambda name: (form.key(name),),
            separators=(form.separator,),
            end=form.end,
            closer=form.closer,
            parallel=form.parallel,
        )


REACT = CallSyntax(
    notation="json",
    trigger="Action:",
    opener="Action: ",
    bracket="\nAction Input: {",
    keys=lambda name: (f"{render_json(name)}:", f"{render_json(name)}: "),
    separators=(",", ", "),
    end="}",
    closer="",
    parallel=False,
)
"""One call in the ReAct form (TOOLDEC v3, appendix A.1): ``Action: Name\\nAction Input: {"key": value}``."""
