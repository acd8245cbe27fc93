"""Whether the arguments of a call were said in the conversation, and where."""
