"""Runs: predictions of one method for the samples of a benchmark, resumable, and their scores."""
