"""The best arrangement of a few items, by dynamic programming over subsets."""
