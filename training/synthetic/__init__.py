"""Tools, requests and dialogues of our own, drawn from a seed."""
