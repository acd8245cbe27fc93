"""The server: OpenAI's chat completions over HTTP, for many requests at once."""
