"""Texts in their new order as one file."""
