"""Places where people keep their music, each a module: a server, a player; read from there and written back."""
