"""Packages that only some commands need; an extra installs them."""

from importlib.util import find_spec
from typing import Literal

from tooldecoding.errors import MissingExtraError

Extra = Literal["batch", "eval", "bench", "serve", "ray", "mcp", "agents"]
"""An extra of ``pyproject.toml``."""


def how_to_install(extra: Extra) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'tooldecoding[{extra}]'"


def demand_extra(extra: Extra, *packages: str) -> None:
    """Raise a MissingExtraError, which names the extra, unless all packages can be imported."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise MissingExtraError(
            f"{' and '.join(missing)} {verb} needed here and not installed; {how_to_install(extra)}"
        )
