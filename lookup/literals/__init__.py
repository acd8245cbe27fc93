"""Read and write literals of Python and JSON."""
