"""Very many items: constructions and bounds that sort instead of filling tables, and searches that end in time."""
