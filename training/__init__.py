"""Training of the reference model, from a checkout: ``train``, ``evaluate`` and ``held_out`` are the commands."""
