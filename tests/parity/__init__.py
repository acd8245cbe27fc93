"""Does ``lookup.extract`` find in text what a structural reader finds in the same data? ``python -m parity DATA``."""
