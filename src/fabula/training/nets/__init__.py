"""The nets that are trained."""
