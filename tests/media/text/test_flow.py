import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.media.text.pairs import JOIN, flow_steps, text_steps

TEXTS = [
    "the sea was grey and then old Ann saw the boat",
    "the boat was near and then old Ann saw the land",
    "a king sat in his hall and spoke to young Tom of war",
]


def slow(texts):
    """Cosine distances of tf-idf, word by word."""
    bags = [text.casefold().split() for text in texts]
    known = sorted({word for bag in bags for word in bag})
    idf = {word: np.log(len(texts) / sum(word in bag for bag in bags)) for word in known}
    rows = np.array([[(1 + np.log(bag.count(w))) * idf[w] if w in bag else 0.0 for w in known] for bag in bags])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return 100 * (1 - rows @ rows.T)


def test_words_are_compared_as_the_slow_way_does():
    found = flow_steps(TEXTS).parts[0]
    assert (found.name, found.unit) == ("wording", "% apart")
    assert found.distance == pytest.approx(slow(TEXTS) * (1 - np.eye(3)), abs=1e-9)


def test_names_are_a_part_where_there_are_any():
    names = {part.name: part.distance for part in flow_steps(TEXTS).parts}
    assert names["names"][0, 1] == 0
    assert names["names"][0, 2] == 100
    assert [part.name for part in flow_steps(["a b", "b c", "今日"]).parts] == ["wording", "join"]


def test_a_join_goes_from_an_end_to_a_beginning():
    filler = [" ".join(f"w{chr(97 + k)}{chr(97 + j % 26)}{chr(97 + j // 26)}" for j in range(JOIN)) for k in range(3)]
    texts = [f"{filler[0]} river stone", f"river stone {filler[1]}", filler[2]]
    join = flow_steps(texts).parts[-1].distance
    assert join[0, 1] < join[1, 0] == 100


def test_without_texts_the_essence_is_compared():
    collection = Collection("x", [Item("a"), Item("b")], [[3.0], [1.0]], ("words",))
    assert text_steps(collection, np.array([1.0, -1.0])).parts[0].name == "essence"


def test_smoothness_brings_like_texts_together(tmp_path):
    import fabula

    for number in range(8):
        about = "the king rode to war with young Tom" if number % 2 else "the sea rose and old Ann went out to the boat"
        text = f"{about} {'again ' * number} and spoke. {about}.\n\nThe end came {about}."
        (tmp_path / f"{number}.txt").write_text(text)
    ordered = fabula.order(tmp_path, by="words", template="steady-rise", smoothness=5)
    changes = {change.name: change for change in ordered.changes}
    assert changes["wording"].unit == "% apart"
    assert changes["wording"].mean[1] < changes["wording"].mean[0] / 2
