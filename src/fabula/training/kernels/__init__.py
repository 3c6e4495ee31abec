"""LSTM kernels for a GPU."""
