"""Use cases of those who train and measure: one function each, returning dataclasses."""
