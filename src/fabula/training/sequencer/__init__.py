"""A direct sequencer to compare with."""
