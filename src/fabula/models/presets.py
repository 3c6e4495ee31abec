"""The presets of training by name, as plain values: what each changes of the default settings.

They lie here and not with the training, so that their names can be told where there is no PyTorch.
"""

from __future__ import annotations

from typing import Any

# Appendix A of the paper. The mlp stands in for its encoder where the features are plain numbers.
_PAPER: dict[str, Any] = {
    "bound": 0.0,
    "encoder": "auto",
    "widths": (64, 64),
    "skip": False,
    "dropout": 0.1,
    "feature_dropout": 0.0,
    "feature_noise": 0.0,
    "scorers": ("bilstm",),
    "scorer_positions": False,
    "readout_dropout": 0.0,
    "essence_noise": 0.0,
    "negatives": 31,
    "batch": 16,
    "optimizer": "adam",
    "learning_rate": 1e-4,
    "encoder_decay": 0.0,
    "scorer_decay": 1e-5,
    "schedule": "constant",
    "warmup": 0.0,
    "clip": 0.0,
    "ema": 0.0,
    "epochs": 100,
    "patience": 10,
    "subsequences": 0.0,
    "calibrate": False,
}
# A mixture of arcs alone, light enough for a CPU.
_ARCS: dict[str, Any] = {"scorers": ("arcs",), "widths": (64, 64), "epochs": 50}
PRESETS: dict[str, dict[str, Any]] = {"default": {}, "arcs": _ARCS, "paper": _PAPER}
