"""Tables of albums: their columns, and the album that the paper shows."""

from __future__ import annotations

# The audio features of a track, as streaming services give them.
FEATURES = (
    "danceability", "energy", "loudness", "speechiness", "acousticness", "instrumentalness", "liveness", "valence",
    "tempo", "key", "mode", "duration_ms",
)  # fmt: skip
LOGGED = ("duration_ms",)  # features of which a model takes the logarithm
ORIENTED_BY = "loudness"  # the sign of an essence is free: it is chosen so that it rises with this feature
# Rows to keep, where a table has the column: albums by one artist, with tracks in an order that somebody chose.
KEPT_ROWS = {"kind": "", "alpha_sorted": "false", "one_song": "false"}
SHOWN_TITLE, SHOWN_CREATOR = "thriller", "jackson"  # the paper's Figure 6
