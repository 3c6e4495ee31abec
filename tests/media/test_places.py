"""What media name by its place, to import it late, is there."""

import re
from pathlib import Path

import fabula.media
from fabula.media.medium import Spec, load


def test_every_place_that_a_medium_names_is_there():
    found = [
        (name, place)
        for file in Path(fabula.media.__file__).parent.glob("*/__init__.py")
        for name, place in re.findall(r'\b(lazy|load)\("([^"]+)"\)', file.read_text(encoding="utf-8"))
    ]
    assert len(found) > 15
    for name, place in found:
        thing = load(place)
        assert callable(thing) if name == "lazy" else isinstance(thing, Spec), place
