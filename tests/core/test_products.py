import numpy as np
import pytest

from fabula.core import energy as products
from fabula.core.energy import multiply


@pytest.mark.parametrize("shape", [(3, 4, 5), (700, 90, 32), (5000, 20, 20), (2, 600, 30, 30), (250, 96, 288)])
def test_in_pieces_it_is_the_same_product(shape, rng):
    *lead, m, k, n = shape
    rows, matrix = rng.normal(size=(*lead, m, k)), rng.normal(size=(*lead, k, n))
    out = np.empty((*lead, m, n))
    np.testing.assert_allclose(multiply(rows, matrix), rows @ matrix, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(multiply(rows, matrix, out=out), rows @ matrix, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("m", "k", "n"), [(700, 90, 32), (250, 96, 288), (13, 96, 288), (400, 192, 96)])
def test_no_piece_is_large_enough_for_several_threads(m, k, n, rng, monkeypatch):
    asked = []
    matmul = np.matmul
    monkeypatch.setattr(
        products.np, "matmul", lambda a, b, out=None: asked.append(a.size * b.shape[-1]) or matmul(a, b, out=out)
    )
    multiply(rng.normal(size=(m, k)), rng.normal(size=(k, n)))
    assert len(asked) > 1
    assert max(asked) <= 1 << 18
