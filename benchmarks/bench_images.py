"""How fast pictures are measured and ordered, as ratios: against the reduced decode alone, and from the cache.

    python benchmarks/bench_images.py [COUNT [MEGAPIXELS]]

Photographs are synthesised: noise at several scales, as JPEG.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from fabula.core.collection import Collection, Item
from fabula.media.extraction import Measuring, extract
from fabula.media.images.picture_files import open_picture
from fabula.media.images.picture_measures import MEASURES, SIZE, SPEC, measure_picture
from fabula.media.registry import find_medium
from fabula.models.model import load_model
from fabula.session.propose import judge


def synthesised(folder: Path, count: int, megapixels: float) -> list[str]:
    """Photographs of noise at several scales, three to two; a few, and links to them, since decoding does not care."""
    rng = np.random.default_rng(0)
    height = int((megapixels * 1e6 / 1.5) ** 0.5)
    size, paths = (height * 3 // 2, height), []
    for number in range(min(count, 4)):
        scene = sum(
            np.asarray(Image.fromarray(rng.integers(0, 256, (k, k * 3 // 2, 3), dtype=np.uint8)).resize(size)) / parts
            for k, parts in ((4, 2), (40, 4), (400, 4))
        )
        path = folder / f"{number}.jpg"
        Image.fromarray(np.asarray(scene).clip(0, 255).astype(np.uint8)).save(path, quality=90)
        paths.append(str(path))
    return [paths[i % len(paths)] for i in range(count)]


def cpu_seconds(action: Callable[[], object]) -> float:
    """The least processor time of three."""
    best = np.inf
    for _ in range(3):
        start = time.process_time()
        action()
        best = min(best, time.process_time() - start)
    return float(best)


def ordered_many(n: int) -> tuple[float, float | None]:
    """Seconds to order n measured pictures by the model, and the gap."""
    from fabula.session.session import Session
    from fabula.sources.registry import Source

    rng = np.random.default_rng(1)
    names = [name for name in MEASURES if not name.startswith(("hash", "palette"))]
    rows = rng.standard_normal((n, len(names)))
    rows[:, names.index("aspect")] = rng.choice([0.667, 1.5], n)
    series = Collection("many", [Item(str(i)) for i in range(n)], rows, names)
    medium = find_medium("images")
    begun = time.perf_counter()
    likelihood = judge(load_model("pictures"), series, medium)
    session = Session(Source(Path("many"), series, medium), np.zeros(n), (), None, likelihood)
    gap = session.order(alternatives=1).gap
    return time.perf_counter() - begun, gap


def dragged(n: int, steps: int = 200) -> float:
    """Milliseconds in which 95 of 100 questions of a dragged knot, among n pictures, are answered inside the server."""
    from fastapi.testclient import TestClient

    from fabula.web.app import create_app
    from fabula.web.server_store import Settings

    rng = np.random.default_rng(2)
    names = [name for name in MEASURES if not name.startswith(("hash", "palette"))]
    rows = [",".join(["title", *names])]
    rows += [",".join([f"Picture {k}", *(f"{value:.4f}" for value in rng.random(len(names)))]) for k in range(n)]
    app = create_app(Settings(token=None))
    times = []
    with TestClient(app, base_url="http://127.0.0.1") as client:
        job = client.post("/api/uploads", files=[("files", ("many.csv", "\n".join(rows).encode()))]).json()
        while job["state"] == "running":
            time.sleep(0.05)
            job = client.get(f"/api/jobs/{job['id']}").json()
        for step in range(steps):
            template = {"knots": [0, 0.3, 0.6, 1], "values": [0, float(np.sin(step / 20)), 1, -1]}
            asked = {"collection": job["collection"], "template": template, "scaled": False, "explain": False}
            begun = time.perf_counter()
            client.post("/api/order", json={**asked, "alternatives": 1}).raise_for_status()
            times.append(1000 * (time.perf_counter() - begun))
    return float(np.quantile(times, 0.95))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    megapixels = float(sys.argv[2]) if len(sys.argv) > 2 else 24
    with tempfile.TemporaryDirectory() as folder:
        os.environ["FABULA_CACHE_DIR"] = str(Path(folder) / "cache")
        paths = synthesised(Path(folder), count, megapixels)
        decode = cpu_seconds(lambda: [open_picture(path, SIZE) for path in paths[:4]])
        whole = cpu_seconds(lambda: [measure_picture(path) for path in paths[:4]])
        print(f"{megapixels:g} megapixels: measured in {whole / decode:.2f} x the reduced decode alone (target 1.3)")
        start = time.perf_counter()
        extract(paths, SPEC, Measuring())
        first = time.perf_counter() - start
        start = time.perf_counter()
        extract(paths, SPEC, Measuring())
        print(f"{count} files: the second time {100 * (time.perf_counter() - start) / first:.1f} % of the first")
    high = min(dragged(300) for _ in range(3))
    print(f"300 pictures on the page, a knot dragged: 95 of 100 answers within {high:.1f} ms (target 16)")
    for n in (500, 2000, 5000):
        seconds, gap = ordered_many(n)
        told = "not known" if gap is None else f"{100 * gap:.1f} %"
        print(f"{n} pictures ordered in {seconds:.1f} s, gap {told} (target 10 s for 5000)")
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
