"""What is asked of an ordering, and what a person means by it."""
