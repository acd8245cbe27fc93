"""ACEBench: its single-turn English categories, normal and special, and the official verdicts."""
