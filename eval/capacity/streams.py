"""Streams of requests made of real prompts: the dialogues of a benchmark with its own or other documentation."""

from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from random import Random
from typing import Final, Literal, get_args

from eval.benchmarks.samples import Sample
from eval.capacity.workload import Workload
from tooldecoding.prompts.documentation import Documentation

StreamName = Literal["same tools", "zipf", "as recorded", "all different"]
STREAMS: Final[tuple[StreamName, ...]] = get_args(StreamName)


def stream(workload: Workload, name: StreamName, requests: int, zipf: float, seed: int) -> Iterator[list[int]]:
    """Yield the prompts of a stream, in tokens.

    Each dialogue occurs once, in a shuffled sequence; so there are never more requests than samples.

    Parameters
    ----------
    name : StreamName
        ``same tools``: all have the documentation that most samples have. ``zipf``: documentation is drawn, the k-th
        most frequent with a weight of k to the power of minus ``zipf``. ``as recorded``: each has its own. ``all
        different``: each has its own, and the first request with a documentation is the only one.
    """
    random = Random(seed)
    samples = list(workload.every)
    random.shuffle(samples)
    if name == "as recorded":
        yield from (workload.prompt_ids(sample) for sample in samples[:requests])
        return
    known = _by_frequency(workload)
    if name == "all different":
        first = {_key(sample): sample for sample in reversed(samples)}
        yield from (workload.prompt_ids(sample) for sample in list(first.values())[:requests])
        return
    ranks = known[:1] if name == "same tools" else known
    weights = list(accumulate((rank + 1) ** -zipf for rank in range(len(ranks))))
    for sample in samples[:requests]:
        [drawn] = random.choices(ranks, cum_weights=weights)
        yield workload.prompt_ids(sample, drawn)


def _by_frequency(workload: Workload) -> list[Documentation]:
    """Return each documentation once, the most frequent first."""
    counts = Counter(map(_key, workload.every))
    by_key = {_key(sample): sample.documentation for sample in workload.every}
    return [by_key[key] for key, _ in counts.most_common()]


def _key(sample: Sample) -> str:
    return repr(sample.documentation.source)
