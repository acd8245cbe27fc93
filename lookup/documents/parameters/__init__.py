"""From documented properties to parameters: types, references, unions, enums, defaults, requiredness."""
