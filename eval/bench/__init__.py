"""``tooldecoding bench``: measures decoding methods against each other on one prompt and one wanted call.

A teacher makes every method write the same call, so that random weights suffice and only the cost differs.
``workload`` makes prompts and calls, ``teacher`` enforces them, ``methods`` decodes, and ``runner`` runs the rounds and
keeps their record. ``schemas`` is ``tooldecoding bench schemas``.
"""
