"""Prompts: dialogues, documentation, templates, and their tokens."""
