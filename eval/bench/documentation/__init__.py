"""``tooldecoding bench lookup``: the time to read documentation, with samples in every form and hostile texts."""
