"""A Python function as a method: ``python -m fabula.studies.bench.worker module:function``.

It runs in a process of its own and sees what a program would see. ``function(collection)`` takes a
:class:`fabula.Collection` in no known order and gives an ordering, ``ordering[position] = item``. A class is made
first; where it, or the function, has ``train``, that is called with the training collections before the first
question.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections.abc import Callable, Iterable
from typing import Any

from fabula.core.collection import Collection, Item
from fabula.core.ordering import as_ordering


def main(target: str, lines: Iterable[str], write: Callable[[str], object]) -> None:
    """Answer questions, line by line."""
    module, _, name = target.partition(":")
    method: Any = importlib.import_module(module)
    for part in name.split("."):
        method = getattr(method, part)
    if isinstance(method, type):
        method = method()
    learned: list[Collection] = []
    trained = False
    for line in lines:
        message = json.loads(line)
        if message["type"] == "train":
            learned.append(as_collection(str(len(learned)), message["items"], ordered=True))
            continue
        if not trained and hasattr(method, "train"):
            method.train(learned)
        trained = True
        items = message["items"]
        ordering = as_ordering(method(as_collection(message["id"], items, ordered=False)), len(items))
        write(json.dumps({"id": message["id"], "order": [items[i]["id"] for i in ordering]}) + "\n")


def as_collection(name: str, items: list[dict[str, Any]], *, ordered: bool) -> Collection:
    """The items of a line as a collection."""
    names = list(items[0]["features"])
    rows = [[math.nan if item["features"][f] is None else item["features"][f] for f in names] for item in items]
    told = [Item(item.get("id", str(i)), title=item.get("title", "")) for i, item in enumerate(items)]
    return Collection(name, told, rows, names, ordered=ordered)


def _run(target: str) -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # what the method prints is no answer

    def write(text: str) -> None:
        answers.write(text)
        answers.flush()

    main(target, sys.stdin, write)


if __name__ == "__main__":
    _run(sys.argv[1])
