"""Learning templates from ordered collections, and choosing, comparing and following them. NumPy and SciPy only."""
