"""Playlists of players, decks and people, one format a module; ``playlist.py`` lists them."""
