"""Arranging: orderings under constraints, with smooth transitions, on sides and within a time."""
