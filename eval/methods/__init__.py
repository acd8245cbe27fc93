"""The decoding methods to compare: greedy, beam search, TOOLDEC, drafts, other libraries and Tool Decoding."""
