"""Evaluation: benchmarks, decoding methods, scorers that agree with the official ones, reports.

Write ``from eval.benchmarks.samples import …``: ``import eval`` would hide Python's own ``eval``.
"""
