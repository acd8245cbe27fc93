"""``tooldecoding tune``: chooses order limit and confidence for a deployment.

1. A run of ``eval`` decodes every prompt once, at the largest order limit, and keeps what each order wrote.
2. ``evidence`` votes from these candidates what any smaller limit would have given, and counts what is right.
3. ``latency`` measures prompts one by one; ``choice`` picks the order limit; ``tuner`` takes these steps.
4. ``confidence`` calibrates how sure calls are.
5. ``output`` writes the result.
"""
