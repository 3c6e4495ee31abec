"""From files of any kind to documents and what is to be read in them."""
