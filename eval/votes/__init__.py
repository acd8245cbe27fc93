"""What the vote changes, value by value: asked by ``eval`` for its ``values.jsonl``, counted by ``report``."""
