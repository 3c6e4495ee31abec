"""A benchmark of ordering methods: public tasks with fixed splits, one protocol, one card."""
