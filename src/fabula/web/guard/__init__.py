"""What may come in and what may go out: who asks, how much, how long, and which files."""
