"""Words, languages, and what is measured of one text."""
