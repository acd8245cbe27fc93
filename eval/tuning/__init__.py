"""``tooldecoding tune``: which order limit, share of optional keys and stopping rule suit a deployment.

Candidates are decoded once at the largest limit (``collect``); what any other setting would have given is voted from
them (``derive``); latency is measured (``latency``); the choice has its reasons (``choice``).
"""
