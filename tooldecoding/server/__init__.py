"""The server: OpenAI's API for every client, with votes and confidence beside the calls."""
