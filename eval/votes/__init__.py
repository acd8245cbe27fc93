"""What the vote changes, value by value.

1. ``first_orders`` names the votes that are compared: over the first orders.
2. ``judge_values`` asks of each value with a right answer whether each order alone, and each vote, gets it right.
3. ``run_values`` does so for a run of ``eval``, and ``value_file`` keeps the answers in its folder.
4. ``value_groups`` and ``vote_rows`` count them, for the tables of ``report`` and ``tune``.
"""
