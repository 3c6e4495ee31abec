"""FMA, the Free Music Archive's dataset: fetched, checked, read."""
