"""Music: what a track is, how its files are read and measured, and the words for what was found."""
