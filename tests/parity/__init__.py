"""Whether ``lookup.extract`` reads from text what a structural reader finds in the same data: ``python -m parity DATA``."""
