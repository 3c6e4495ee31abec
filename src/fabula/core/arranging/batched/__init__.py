"""The one problem, without constraints, for many collections of one length at once."""
