"""Compare ``lookup.extract`` on text with a structural reader of the same data: ``python -m parity DATA``."""
