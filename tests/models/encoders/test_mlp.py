import numpy as np

from fabula.models.encoders.mlp import encode_mlp


def test_without_hidden_layers_it_is_linear():
    tensors = {"encoder.0.weight": np.array([[2.0, -1.0]]), "encoder.0.bias": np.array([0.5])}
    out = encode_mlp(tensors, np.array([[1.0, 3.0]]), {"kind": "mlp", "widths": [], "activation": "relu"})
    assert out.tolist() == [[-0.5]]
