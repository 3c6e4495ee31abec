"""A medium and a source that fabula knows nothing of."""
