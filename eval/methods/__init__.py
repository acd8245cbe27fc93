"""Decoding methods to compare: greedy, beam search, TOOLDEC, Tool Decoding."""
