"""The database that every sample starts from, as far as the recorded dialogues show it.

The official evaluator gives each sample a fresh copy of API-Bank's ``init_database``. That is no part of the dialogues,
but all their calls succeeded: a call that read something shows that it was there, unless an earlier call of the same
dialogue had put it there. The modules of the tools collect this evidence (``learn`` in each).
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class RecordedCall:
    """A call of a dialogue with what it gave back.

    Attributes
    ----------
    name : str
    arguments : mapping
        As the user said them: texts.
    input : mapping or None
        As the tool received them; None for GetToday.
    output : JSON value
    exception : str or None
    """

    name: str
    arguments: Mapping[str, Any]
    input: Mapping[str, Any] | None
    output: Any
    exception: str | None

    def text(self, key: str) -> str:
        """An argument that is a text; empty where there is none."""
        value = (self.input or {}).get(key)
        return value if isinstance(value, str) else ""


Dialogue = tuple[RecordedCall, ...]
"""The calls of one dialogue, in their sequence."""


@dataclass
class Database:
    """What is known of the fresh database.

    Attributes
    ----------
    passwords, emails : dict
        User name -> password, e-mail address. A user without a known one still exists.
    tokens : dict
        Token -> user name; the token itself where no recording names its user.
    rows : dict
        ``Agenda``, ``Reminder``, ``Meeting``, ``Alarm`` -> rows with ``username`` and the keys of the tools.
    appointments : dict
        Id -> ``patient_name``, ``date``, ``doctor_name``, as far as they are known.
    health : dict
        User id -> records with their ``time``.
    outputs : dict
        Tool -> normalised arguments -> recorded output, for tools that only look something up.
    descriptions : mapping
        Tool -> its documentation as the code has it; ToolSearcher returns it.
    verbatim : bool
        Whether ``descriptions`` are the code's own words. Where they are not (a table of the tools), what a sample
        records of a tool that ToolSearcher found counts as its documentation.
    """

    descriptions: Mapping[str, Mapping[str, Any]]
    verbatim: bool
    passwords: dict[str, str | None] = field(default_factory=dict)
    emails: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    appointments: dict[str, dict[str, str]] = field(default_factory=dict)
    health: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    outputs: dict[str, dict[Hashable, Any]] = field(default_factory=dict)

    def note(self, tool: str, key: Hashable, output: Any) -> None:
        """Remember an output; the first for a key holds."""
        self.outputs.setdefault(tool, {}).setdefault(key, output)

    def known(self, tool: str) -> Iterable[Hashable]:
        """The normalised arguments that ``tool`` was called with."""
        return self.outputs.get(tool, {})


@dataclass(frozen=True)
class Replay:
    """The database in which one sample's prediction is executed, with the sample's own recorded call."""

    database: Database
    truth: RecordedCall
