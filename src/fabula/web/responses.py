"""What is told of a loaded collection and of templates, as the JSON that goes out."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
from fastapi.responses import Response

from fabula.core.template import Template
from fabula.errors import InputError
from fabula.session.choosing import known_templates
from fabula.session.playing import columns
from fabula.session.wishes import durations
from fabula.web.store import Loaded

_SAMPLES = 41


def as_answer(data: Any, status: int = 200) -> Response:
    """JSON text; plain ASCII, so that no odd character in a name can break it."""
    return Response(json.dumps(data, separators=(",", ":")), status, media_type="application/json")


def told(loaded: Loaded) -> dict[str, Any]:
    """A loaded collection: title, columns, notes, and its items in the order given."""
    found = loaded.found
    collection = found.source.collection
    scalar = found.values if found.values.ndim == 1 else found.values[:, 0]
    items = [
        {
            "id": item.id,
            "title": item.label,
            "artist": item.artist,
            "path": item.path,
            "seconds": seconds,
            "essence": value,
            "sound": file is not None,
        }
        for item, seconds, value, file in zip(
            collection.items, _seconds(loaded), scalar.tolist(), loaded.sounds, strict=True
        )
    ]
    return {
        "id": loaded.id,
        "title": collection.title or collection.id,
        "by": found.features[0] if found.model is None else None,
        "columns": columns(collection),
        "notes": [*found.source.notes, *found.notes],
        "items": items,
    }


def _seconds(loaded: Loaded) -> list[float | None]:
    try:
        known = durations(loaded.found.source.collection, "seconds")
    except InputError:
        return [None] * len(loaded.sounds)
    return [float(s) if np.isfinite(s) else None for s in known]


@cache
def templates_told() -> list[dict[str, Any]]:
    """The built-in templates, each with its curve at evenly spaced places."""
    return [template_told(template) for template in known_templates()]


def template_told(template: Template) -> dict[str, Any]:
    """A template with its curve at evenly spaced places."""
    return {
        "name": template.name,
        "description": template.description,
        "knots": template.knots.tolist(),
        "values": template.values.tolist(),
        "samples": template.samples(_SAMPLES).round(4).tolist(),
    }
