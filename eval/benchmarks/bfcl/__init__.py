"""BFCL (Berkeley Function-Calling Leaderboard), scored offline as the official ``bfcl evaluate`` scores prompt mode.

``decoder`` reads predictions, ``checker`` with ``value_types`` and ``values`` compares them with the possible answers,
``data`` and ``files`` read samples, ``reference`` writes the reference calls, ``export`` writes official result files.
"""
