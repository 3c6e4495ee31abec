"""Tables with one row an item: reading and writing."""
