"""Playlists: M3U, M3U8, PLS, XSPF, JSPF."""
