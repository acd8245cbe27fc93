"""All engines by name."""

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from eval.errors import EvalError
from eval.schemas.engine import Engine
from eval.schemas.own_engine import OwnEngine
from eval.schemas.peer_engines import LLGuidance, Outlines, XGrammar

OWN: type[Engine] = OwnEngine
PEERS: Final[Mapping[str, type[Engine]]] = {peer.name: peer for peer in (LLGuidance, XGrammar, Outlines)}
"""Name -> library."""


def chosen(names: Sequence[str] | None) -> dict[str, type[Engine]]:
    """Return our engine and those of the names, by name and version; None stands for all that are installed.

    Raises
    ------
    EvalError
        If one of the names is not installed.
    """
    engines = {f"{OWN.name} {version(OWN.package)}": OWN}
    for name in PEERS if names is None else names:
        package = PEERS[name].package
        try:
            engines[f"{name} {version(package)}"] = PEERS[name]
        except PackageNotFoundError:
            if names is not None:
                raise EvalError(f"--peers: {name} is not installed; pip install {package}") from None
    return engines
