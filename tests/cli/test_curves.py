from __future__ import annotations

import pytest

from fabula.cli.printing import bar, curve_lines, spark
from fabula.core.template import Template, template


@pytest.mark.parametrize("name", ["icarus", "wave"])
def test_every_column_of_a_curve_has_a_dot(name):
    lines = curve_lines(template(name), width=30, height=8)
    assert len(lines) == 8
    assert all(len(line) == 30 for line in lines)
    for column in range(30):
        dots = 0
        for line in lines:
            dots |= ord(line[column]) - 0x2800
        assert dots & 0x47  # left half
        assert dots & 0xB8  # right half


def test_a_rise_is_drawn_from_bottom_left_to_top_right():
    lines = curve_lines(Template([0, 1], [0, 1]), width=10, height=5)
    assert lines[-1][0] != "⠀"
    assert lines[0][-1] != "⠀"
    assert lines[0][0] == "⠀"


def test_a_flat_curve_is_drawn():
    assert any(set(line) != {"⠀"} for line in curve_lines(Template([0, 1], [3, 3])))


def test_bars():
    assert bar(1, 0, 1, width=5) == "█████"
    assert bar(0, 0, 1, width=5).strip() == "▏"
    assert bar(3, 3, 3, width=4) == "██  "
    assert bar(0.55, 0, 1, width=4) == "██▎ "


def test_sparks():
    assert spark([1, 1]) == "▅▅"
    assert spark([3, 1, 2]) == "█▁▅"
