"""Finding tools in any text: objects, places, who speaks, and what was not read."""
