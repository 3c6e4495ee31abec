"""Collections, orderings, essence, templates, and fitting one on the other. NumPy and SciPy only."""
