"""Sessions: a source opened once, measured once, ordered many times under wishes, and saved."""
