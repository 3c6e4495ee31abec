"""What can be measured of an item: specs, their extraction over many files, and the cache of what was measured."""
