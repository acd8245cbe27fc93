"""Engines that run elsewhere: vLLM, SGLang and llama-server go on with tokens, and tell how likely these are.

``server`` is the seam, ``http`` what all that are asked over HTTP have in common, ``vllm``, ``sglang`` and
``llama_server`` are the protocols, ``vllm_client`` is vLLM in its own process, and ``find`` asks an address what
answers there. ``tooldecoding.engines.upstream_engine`` decodes with them.
"""
