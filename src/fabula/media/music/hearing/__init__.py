"""Hearing: tempo, key, edges and colour of a sound, from the chunks that are decoded for its loudness."""
