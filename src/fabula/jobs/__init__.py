"""Jobs: one piece of work cut into numbered shards, done by any number of processes on any machines."""
