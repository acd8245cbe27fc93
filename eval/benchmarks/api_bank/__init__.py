"""API-Bank: its dialogues, its evaluator's verdicts without running its tools, and its evaluator's own format."""
