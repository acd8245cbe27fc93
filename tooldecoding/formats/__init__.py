"""Call formats: how a call is written, and the readers that decide which text is valid."""
