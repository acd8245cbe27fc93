"""The figures of all replicas as one page for Prometheus."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

_OWN: Final = "tooldecoding_answers"
"""What clients see; a replica's answers go through the ingress, which counts them."""


def page(own: Iterable[Metric], replicas: Mapping[str, Sequence[Metric]]) -> bytes:
    """Return the figures of the ingress, and those of each replica with its name as a label.

    Parameters
    ----------
    own : iterable of Metric
        The ingress'.
    replicas : mapping
        Replica -> its figures.
    """
    merged: dict[str, Metric] = {each.name: each for each in own if each.name == _OWN}
    running = GaugeMetricFamily("tooldecoding_replicas", "Replicas that answer.", len(replicas))
    merged[running.name] = running
    for replica, families in replicas.items():
        for family in families:
            if family.name != _OWN:
                into = merged.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                into.samples += [each._replace(labels={**each.labels, "replica": replica}) for each in family.samples]
    registry = CollectorRegistry()
    registry.register(_Made(merged.values()))
    found: bytes = generate_latest(registry)
    return found


class _Made(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        return iter(self._families)
