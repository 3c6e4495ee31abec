from dataclasses import replace

import pytest

from fabula.errors import InputError
from fabula.evaluation.controls import Parts
from fabula.training.audit import AuditReport, AuditRow, audit as audit_trainable
from fabula.training.item_models import EssenceTraining
from fabula.training.published_bug import PublishedBug
from fabula.training.recipes import TrainingConfig, preset

QUICK = TrainingConfig(widths=(16,), batch=64, learning_rate=2e-2, epochs=4, scorer_hidden=8, scorer_layers=1)
LEAKY = preset(
    "paper",
    encoder="identity",
    features=("energy",),
    learning_rate=2e-2,
    epochs=8,
    scorer_hidden=16,
    scorer_layers=1,
)


def audit(parts, config, *, published_bug=False, device="auto", **options):
    return audit_trainable(
        (PublishedBug if published_bug else EssenceTraining)(parts.nest(), config, device), **options
    )


@pytest.mark.slow
def test_an_honest_recipe_passes_its_audit(make):
    seen = []
    report = audit(Parts(make(240), make(120, seed=1)), QUICK, device="cpu", progress=lambda data, _: seen.append(data))
    assert report.ok
    assert report.judged
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
    several = {"rise": 0.0, "lengths": (4, 5, 6, 12)}  # the longest of a batch leak nothing
    collections, validation = make(320, **several), make(160, seed=1, **several)
    published = audit(Parts(collections, validation), LEAKY, device="cpu", controls_only=True, published_bug=True)
    assert not published.ok
    assert all(row.low > 0.1 for row in published.rows)
    repaired = audit(Parts(collections, validation), LEAKY, device="cpu", controls_only=True)
    assert repaired.ok


def test_the_published_errors_are_those_of_the_bilstm(make):
    with pytest.raises(InputError, match="scorers must be bilstm"):
        audit(Parts(make(5), make(5)), QUICK, published_bug=True)


def rows_of(*rows) -> AuditReport:
    return AuditReport([AuditRow("real", "arcs", 0.3, 0.2, 0.4, 50), *(AuditRow("shuffled orders", *r) for r in rows)])


@pytest.mark.parametrize(
    ("bits", "low", "high", "count", "verdict"),
    [
        (0.019, 0.018, 0.02, 500, "zero"),  # sure, and too small to matter
        (0.05, 0.04, 0.06, 500, "leak"),
        (0.05, -0.02, 0.09, 500, "zero"),  # chance may have done it, and no large leak can hide
        (0.05, -0.2, 0.3, 40, "too few"),  # a large leak could hide
        (0.05, 0.04, 0.06, 10, "too few"),
        (0.0, 0.0, 0.0, 10, "too few"),
        (0.0, 0.0, 0.0, 40, "zero"),
        (-0.05, -0.07, -0.03, 500, "below zero"),  # learned by heart: no leak
        (-0.021, -0.05, 0.01, 500, "zero"),
    ],
)
def test_a_control_is_judged_by_its_interval(bits, low, high, count, verdict):
    report = rows_of(("arcs", bits, low, high, count))
    assert report.verdict(report.controls[0]) == verdict
    assert report.ok == (verdict != "leak")
    assert report.judged == (verdict != "too few")


def test_it_says_how_many_it_takes():
    assert rows_of(("arcs", 0.0, -0.3, 0.3, 40)).needed == 360
    assert rows_of(("arcs", 0.0, 0.0, 0.0, 8)).needed == 20
    assert rows_of(("arcs", 0.0, 0.0, 0.0, 40)).needed == 0


def test_the_more_controls_the_more_it_takes_to_cry_leak():
    row = ("arcs", 0.05, 0.0005, 0.0995, 500)
    assert not rows_of(row).ok
    assert rows_of(*[row] * 9).ok


@pytest.mark.slow
def test_small_healthy_data_are_not_accused(make):
    """120 collections of noise: measured on what also chose the epoch, every audit cried leak."""
    quick = preset("arcs", epochs=6, batch=32, widths=(8,), draws=1)
    for seed in range(2):
        noise = make(120, seed=seed, rise=0.0)
        report = audit(Parts(noise[40:], noise[:40]), replace(quick, seed=seed), device="cpu")
        assert report.ok
        assert {row.collections for row in report.rows} == {40}
