"""Files written whole or not at all, and the locks beside them."""
