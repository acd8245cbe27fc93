"""Decoding one call: its name, the injected keys in several orders, the optional keys, the ends of values."""
