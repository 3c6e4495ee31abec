"""Catalogues: every collection of a table encoded or ordered, a piece at a time."""
