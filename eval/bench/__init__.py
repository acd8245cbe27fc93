"""``tooldecoding bench``: measures decoding methods against each other on one prompt and one wanted call.

A teacher makes every method write the same call, so that random weights suffice and only the cost differs.
``workload`` makes prompts and calls, ``lesson`` and ``teacher`` enforce them, ``tool_decoding_method`` and
``generate_method`` decode, ``runner`` runs the rounds, ``measurements`` and ``store`` keep them, ``cell_tables`` and
``ratio_chart`` show them.
"""
