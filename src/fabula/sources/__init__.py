"""Where collections come from: tables and playlists."""
