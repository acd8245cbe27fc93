"""``tooldecoding tune``: chooses order limit, share of optional keys and stopping rule for a deployment.

1. ``decodes`` decodes every prompt once, at the largest order limit, keeps what each order wrote, and measures latency.
2. ``evidence`` votes from these candidates what any other setting would have given, and counts what is right.
3. ``tuner`` takes these steps; ``choice`` picks the order limit.
4. ``output`` and ``session`` write the result.
"""
