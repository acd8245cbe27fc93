"""Many prompts from one file, with results that a later run goes on from."""
