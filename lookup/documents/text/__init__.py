"""Find tools in any text: JSON and YAML objects, positions, speakers, and what was not read."""
