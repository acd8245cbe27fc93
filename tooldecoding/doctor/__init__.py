"""What ``tooldecoding doctor`` finds out about a model before the first decode."""
