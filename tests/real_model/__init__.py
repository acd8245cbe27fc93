"""What only a real model shows: SmolLM2-135M-Instruct, or another model that is named."""
