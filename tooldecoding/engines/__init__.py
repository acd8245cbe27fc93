"""Engines run the branches of a decode through the model.

``engine`` is the protocol and ``choose_engine`` picks one of three implementations: ``packed_engine`` (tree attention:
``packed_row``, ``tree_attention``, ``slot_cache``), ``batched_engine`` and ``recurrent_engine``. They share
``language_model`` (one forward pass), ``logits`` and ``prefix_cache``. ``steps`` connects decoding to forward passes.
"""
