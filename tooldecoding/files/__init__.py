"""Files that we write: JSON lines, manifests, results that survive an interrupt."""
