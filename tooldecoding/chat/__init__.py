"""Messages and tools in OpenAI's shape -> the chat template's prompt -> an assistant message with calls and votes."""
