"""Engines run the branches of a decode through the model. Prompts join and leave them between any two passes.

``engine`` is the protocol and ``choose_engine`` picks one of three implementations: ``packed_engine`` (tree attention:
``packed_row``, ``tree_attention``, ``slot_cache``), ``batched_engine`` (with ``batched_cache``) and
``recurrent_engine``. They share ``language_model`` (one forward pass), ``pass_cost``, ``logits`` and ``prefix_cache``.
"""
