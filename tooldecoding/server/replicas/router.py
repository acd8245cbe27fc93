"""Sends a request to the replica that the ingress has chosen. Ray Serve makes the router in the ingress' process."""

from typing import Any, Final

from ray.serve.request_router import PendingRequest, RequestRouter, RunningReplica

from tooldecoding.server.replicas.known import NAMES, note
from tooldecoding.server.replicas.message import Asked

_DEADLINE_S: Final = 5.0


class ChosenReplicaRouter(RequestRouter):
    """Takes the chosen replica, or another one of the same model if that is gone.

    While an update runs, there are replicas of two models.
    """

    queue_len_response_deadline_s = _DEADLINE_S  # one that decodes on all threads may be slow to say how much it does
    max_queue_len_response_deadline_s = _DEADLINE_S

    def initialize_state(self, **_: Any) -> None:
        """Let the ingress find this router."""
        note(self.app_name, self)

    async def choose_replicas(
        self, candidate_replicas: list[RunningReplica], pending_request: PendingRequest | None = None
    ) -> list[list[RunningReplica]]:
        """Return the replicas to try, the best first; Ray Serve takes the least loaded of each list."""
        if pending_request is None or not isinstance(asked := pending_request.args[0], Asked):
            return [candidate_replicas]
        pending_request.routing_context.should_backoff = True
        able = [each for each in candidate_replicas if asked.model in each.replica_metadata.get(NAMES, ())]
        able = able or candidate_replicas  # which says that it has no such model
        chosen = [each for each in able if each.replica_id.unique_id == asked.replica]
        return [each for each in (chosen, [each for each in able if each not in chosen]) if each]
