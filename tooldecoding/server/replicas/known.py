"""The routers of this process: Ray Serve makes them, and the ingress asks them which replicas run.

Ray pickles the module of a router by value, so that what this process shares with it must stand elsewhere.
"""

from collections.abc import Sequence
from typing import Any, Final

NAMES: Final = "names"
"""The key of a replica's metadata with the names of its model."""

_ROUTERS: Final[dict[str, Any]] = {}


def note(application: str, router: Any) -> None:
    """Keep the router of an application."""
    _ROUTERS[application] = router


def running_replicas(application: str) -> dict[str, Sequence[str]]:
    """Return the replicas of an application that run, with the names of the model of each."""
    if application not in _ROUTERS:
        return {}
    replicas = list(_ROUTERS[application].curr_replicas.values())
    return {each.replica_id.unique_id: each.replica_metadata[NAMES] for each in replicas}
