"""Metrics, error classes and significance tests."""
