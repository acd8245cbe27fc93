"""The decoding methods to compare: greedy, beam search, TOOLDEC and Tool Decoding."""
