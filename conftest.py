"""What the doctests leave out: the kernels for a GPU, where Triton cannot be installed."""

from importlib.util import find_spec

_kernels = ["src/fabula/training/nets/triton_lstm.py"]
collect_ignore = [] if find_spec("triton") else _kernels
