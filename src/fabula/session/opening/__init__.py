"""From a source to what its items are ordered by: measured, embedded, encoded."""
