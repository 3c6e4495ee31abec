"""Commands for those who train, measure and compare."""
