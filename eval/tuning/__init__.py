"""``tooldecoding tune``: chooses order limit, share of optional keys and stopping rule for a deployment.

1. ``collect`` decodes every prompt once, at the largest order limit, and keeps what each order wrote.
2. ``derive`` votes from these candidates what any other setting would have given.
3. ``latency`` measures the order limits and the stopping rules.
4. ``optional_keys``, ``order_limits`` and ``stopping_rules`` compare the settings; ``choice`` picks the order limit.
5. ``confidence_study`` asks whether vote share and log-probability tell right values from wrong ones.
6. ``reasons``, ``tuning_tables``, ``tuning_json``, ``tuning_chart`` and ``deployment`` write the result.
"""
