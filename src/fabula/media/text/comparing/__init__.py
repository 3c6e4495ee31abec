"""What two or more texts have to do with each other: words, names, joins, who introduces what."""
