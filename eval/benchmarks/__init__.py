"""Benchmarks: their samples, and scorers that agree with the official ones."""
