"""What goes between the ingress and the replicas."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """A chat completion on its way to a replica.

    Attributes
    ----------
    body : bytes
        As the client sent it.
    model : str or None
        The model that it names.
    request_id : str
        For the logs.
    replica : str or None
        The replica that it should go to.
    """

    body: bytes
    model: str | None
    request_id: str
    replica: str | None


@dataclass(frozen=True)
class Head:
    """The first part of an answer; if ``more`` is set, further bytes follow.

    Attributes
    ----------
    status : int
    headers : dict of str
    body : bytes
        What the replica had written by then: the whole answer, if it is no stream.
    more : bool
    replica : str
    """

    status: int
    headers: dict[str, str]
    body: bytes
    more: bool
    replica: str
