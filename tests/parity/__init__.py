"""A structural reader of the corpora, with which ``lookup.extract`` on their texts is compared."""
