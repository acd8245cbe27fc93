"""A training run: its settings, its material, its updates and its files."""
