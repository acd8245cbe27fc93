"""``tooldecoding bench``: decoding methods measured against each other on one prompt and one wanted call.

A teacher makes every method write the same call, so that random weights suffice and only the work differs. ``workload``
makes prompts and calls, ``lesson`` and ``teacher`` force them, ``tool_decoding_method`` and ``generate_method`` decode,
``session`` runs the rounds, ``record`` and ``store`` keep them.
"""
