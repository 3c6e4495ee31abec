"""Research."""
