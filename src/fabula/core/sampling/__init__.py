"""Orderings drawn by a score over all pairs, and what they have in common."""
