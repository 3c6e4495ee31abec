"""Decoding: sound out of files, chunk by chunk, and pictures of its wave."""
