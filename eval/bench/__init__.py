"""``tooldecoding bench``: measures decoding methods against each other on one prompt and one wanted call.

A teacher makes every method write the same call, so that random weights suffice and only the cost differs.
``subject`` has the model, prompts and calls, ``teacher`` enforces the calls, ``methods`` decodes, and ``runner`` runs
the rounds and keeps their record. ``schemas`` is ``tooldecoding bench schemas``.
"""
