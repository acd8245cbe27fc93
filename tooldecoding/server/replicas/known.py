"""The routers of this process: Ray Serve makes them, and the ingress asks them which replicas run.

Ray pickles the module of a router by value, so that what this process shares with it must stand elsewhere.
"""

from typing import Any, Final

MODEL: Final = "model"
"""The key of a replica's metadata that names its model."""

_ROUTERS: Final[dict[str, Any]] = {}


def note(application: str, router: Any) -> None:
    """Keep the router of an application."""
    _ROUTERS[application] = router


def running_replicas(application: str) -> dict[str, str]:
    """Return the replicas of an application that run, with the model of each."""
    if application not in _ROUTERS:
        return {}
    replicas = list(_ROUTERS[application].curr_replicas.values())
    return {each.replica_id.unique_id: each.replica_metadata[MODEL] for each in replicas}
