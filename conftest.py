"""What the doctests leave out: the kernels for a GPU, where Triton cannot be installed."""

from importlib.util import find_spec

_kernels = ["src/fabula/training/fused.py", "src/fabula/training/fused_kernels.py"]
collect_ignore = [] if find_spec("triton") else _kernels
