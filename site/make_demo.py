"""Compute site/demo.json: the demo album as the page gets it, and its orders for a grid of templates, pins and sides.

python site/make_demo.py [--check]

The page of the site has no server: what it would be asked is answered here, by the server itself. Along a template the page sorts, as
always; what needs a model or a search (what is proposed, each track pinned at each position, two sides) is looked up.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TARGET = Path(__file__).with_name("demo.json")
KEPT = (
    "template",
    "knots",
    "values",
    "interpolation",
    "ordering",
    "sides",
    "gap",
    "score",
    "sure",
    "arc",
    "length_texts",
    "notes",
)


def compute() -> dict[str, Any]:
    """Everything the page asks, and the answers."""
    import os

    from fastapi.testclient import TestClient

    from fabula.web.app import create_app

    with tempfile.TemporaryDirectory() as folder:
        os.environ["FABULA_DATA_DIR"] = folder
        app = create_app()
        headers = {"Authorization": f"Bearer {app.state.access.token}"}
        with TestClient(app, base_url="http://127.0.0.1", headers=headers) as client:
            return ask(client)


def ask(client: Any) -> dict[str, Any]:
    job = client.post("/api/demo", json={"name": "music"}).json()
    while job["state"] == "running":
        time.sleep(0.05)
        job = client.get(f"/api/jobs/{job['id']}").json()
    collection = client.get(f"/api/collections/{job['collection']}").json()
    templates = [one for one in client.get("/api/templates").json() if not any(map(str.isdigit, one["name"]))]
    count, name = len(collection["items"]), collection["id"]

    def order(**asked: Any) -> dict[str, Any]:
        answer = client.post("/api/order", json={"collection": name, "alternatives": 1, **asked})
        assert answer.status_code == 200, answer.text
        return {key: answer.json()[key] for key in KEPT} | {"why": [row["why"] for row in answer.json()["items"]]}

    shapes = [{key: one[key] for key in ("name", "knots", "values", "interpolation")} for one in templates]
    answers = {"": order(), **{one["name"]: order(template=one) for one in shapes}}
    sides = {"": order(sides=2), **{one["name"]: order(sides=2, template=one) for one in shapes}}
    pins = [[digits(order(fixed={at: item}, explain=False)) for at in range(count)] for item in range(count)]
    for item in collection["items"]:
        item["path"] = item["id"] = Path(item["path"]).name
    for one in [*answers.values(), *sides.values()]:
        one["sides"] = one["sides"] if len(one["sides"]) > 1 else []
    collection = {**collection, "id": "demo", "origin": {}}
    return {"collection": collection, "templates": templates, "answers": answers, "sides": sides, "pins": pins}


def digits(answer: dict[str, Any]) -> str:
    """An ordering of at most ten items, short."""
    return "".join(map(str, answer["ordering"]))


def text(found: dict[str, Any]) -> str:
    def shorten(value: Any) -> Any:
        if isinstance(value, float):
            return round(value, 4)
        if isinstance(value, dict):
            return {key: shorten(one) for key, one in value.items()}
        return [shorten(one) for one in value] if isinstance(value, list) else value

    return json.dumps(shorten(found), ensure_ascii=False, separators=(",", ":")) + "\n"


def essentials(found: dict[str, Any]) -> Any:
    """What must be the same: who stands where, on which side, along which templates."""
    orders = {
        part: {name: (one["ordering"], one["sides"]) for name, one in found[part].items()}
        for part in ("answers", "sides")
    }
    return (
        orders,
        found["pins"],
        [one["name"] for one in found["templates"]],
        [item["title"] for item in found["collection"]["items"]],
    )


if __name__ == "__main__":
    if "--check" in sys.argv:
        now = json.loads(text(compute()))
        sys.exit(essentials(json.loads(TARGET.read_text(encoding="utf-8"))) != essentials(now))
    TARGET.write_text(text(compute()), encoding="utf-8")
    print(f"{TARGET}: {TARGET.stat().st_size / 1000:.0f} kB")
