"""Models without torch: encoders from features to essence, scorers of essence sequences, and the file they live in."""
