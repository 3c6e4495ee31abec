"""Writing a result: outputs, numbered copies, and the versions that were replaced."""
