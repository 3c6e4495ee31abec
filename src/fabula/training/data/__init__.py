"""From collections to batches."""
