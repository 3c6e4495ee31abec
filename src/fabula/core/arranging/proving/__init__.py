"""The best ordering without constraints, of many collections of one length at once, by bounds and what they permit."""
