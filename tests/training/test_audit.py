import pytest

from fabula.errors import InputError
from fabula.evaluation.parts import Parts
from fabula.training.audit import AuditReport, AuditRow, audit
from fabula.training.config import TrainingConfig, preset

QUICK = TrainingConfig(widths=(16,), batch=64, learning_rate=2e-2, epochs=4, scorer_hidden=8, scorer_layers=1)
LEAKY = preset(
    "paper",
    encoder="identity",
    features=("energy",),
    learning_rate=3e-2,
    epochs=4,
    scorer_hidden=16,
    scorer_layers=1,
)


def test_an_honest_recipe_passes_its_audit(make):
    seen = []
    report = audit(Parts(make(240), make(120, seed=1)), QUICK, device="cpu", progress=lambda data, _: seen.append(data))
    assert report.ok
    assert [(row.data, row.scorer) for row in report.rows] == [
        (data, scorer) for data in ("real", "noise features", "shuffled orders") for scorer in ("arcs", "bilstm")
    ]
    assert all(row.low > 0.5 for row in report.rows if row.data == "real")
    assert all(row.low <= row.bits <= row.high for row in report.rows)
    assert seen == ["real"] * 4 + ["noise features"] * 4 + ["shuffled orders"] * 4
    assert report.trained is not None
    assert set(report.card()) == {"noise features", "shuffled orders"}


@pytest.mark.slow
def test_the_controls_catch_the_published_errors(make):
    """Noise, and nothing but noise: the published scorer reports bits, the repaired one none."""
    collections, validation = make(320, rise=0.0, lengths=(5,)), make(160, seed=1, rise=0.0, lengths=(5,))
    published = audit(Parts(collections, validation), LEAKY, device="cpu", controls_only=True, published_bug=True)
    assert not published.ok
    assert all(row.low > 0.2 for row in published.rows)
    repaired = audit(Parts(collections, validation), LEAKY, device="cpu", controls_only=True)
    assert repaired.ok


def test_the_published_errors_are_those_of_the_bilstm(make):
    with pytest.raises(InputError, match="scorers must be bilstm"):
        audit(Parts(make(5), make(5)), QUICK, published_bug=True)


@pytest.mark.parametrize(("bits", "ok"), [(0.019, True), (-0.019, True), (0.021, False), (-0.021, False)])
def test_a_control_must_be_zero_on_both_sides(bits, ok):
    rows = [AuditRow("real", "arcs", 0.3, 0.2, 0.4), AuditRow("shuffled orders", "arcs", bits, bits, bits)]
    assert AuditReport(rows).ok == ok
