"""Learns what `fabula.media.music.tempo_and_key` knows, from the ``learn`` part of rendered pieces and loops.

    python -m benchmarks.learn_ears OUT [--tempo]

OUT is a folder of `render_music` and `render_dance`. ``--tempo``: the keys stay as they are.

Writes ``ears.safetensors`` beside the modules that use it. Needs torch. Sizes and penalties were chosen by four-fold
cross-validation within the part, printed here; the test part is not looked at.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file

from fabula.media.music import tempo_and_key as keys, tempo_and_key as tempo
from fabula.media.music.audio import Ears, Sound, play
from fabula.media.music.tempo_and_key import SECONDS, chroma, tuning

TARGET = Path(tempo.__file__).with_name("ears.safetensors")
HIDDEN, DECAY, EPOCHS, SEEDS = 24, 3e-4, 30, 2
KEY_DECAY = 0.01
CUTS = (0.0, 8.0)  # seconds left out at the start, so that little depends on where a piece begins
STRETCHES = (1.0, 0.9, 1.11)  # of the onsets in time, so that no tempo is known by heart
Piece = tuple[np.ndarray, float, np.ndarray, dict[str, float]]


def hear(path: Path) -> Piece:
    """Onsets, their rate and pitch classes of a piece, and the truth."""

    def listen(sound: Sound) -> Ears:
        ears = Ears(sound.rate, sound.channels)
        for chunk in sound.chunks:
            ears.push(chunk)
        return ears

    ears = play(path.with_suffix(".flac"), listen)
    blocks = ears.pitches.blocks
    return ears.spectra.onsets, ears.spectra.rate, chroma(blocks, tuning(blocks)[0]), json.loads(path.read_text())


def folds(count: int, parts: int = 4) -> np.ndarray:
    return np.random.default_rng(0).permutation(count) % parts


def tempo_data(pieces: Sequence[Piece]) -> tuple[torch.Tensor, torch.Tensor]:
    """Features (pieces, cuts * stretches, tempi, f) and what share of the truth each tempo has."""
    rows, truths = [], []
    for onsets, rate, _, truth in pieces:
        cuts = [onsets[round(cut * rate) :] for cut in CUTS]
        rows.append(
            [
                tempo.tempo_features(*tempo.repetition(part, rate * stretch), rate * stretch, part)
                for part in cuts
                for stretch in STRETCHES
            ]
        )
        gap = np.log(tempo.TEMPI[None] / (truth["tempo"] * np.array(STRETCHES)[:, None]))
        share = np.exp(-0.5 * (gap / 0.012) ** 2)
        truths.append(np.tile(share / share.sum(axis=1, keepdims=True), (len(CUTS), 1)))
    return torch.tensor(np.array(rows), dtype=torch.float32), torch.tensor(np.array(truths), dtype=torch.float32)


def key_data(keyed: Sequence[tuple[np.ndarray, dict[str, float]]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Features (pieces, cuts, 12, f) and the right one of twelve major keys, then twelve minor ones (pieces, cuts)."""
    rows = [[keys.key_features(classes[round(cut / SECONDS) :]) for cut in CUTS] for classes, _ in keyed]
    truths = [[truth["key"] + 12 * (1 - truth["mode"])] * len(CUTS) for _, truth in keyed]
    return torch.tensor(np.array(rows), dtype=torch.float32), torch.tensor(truths)


def learn_tempo(x: torch.Tensor, y: torch.Tensor, styles: Sequence[str], seed: int = 0) -> dict[str, np.ndarray]:
    """From what `tempo_data` gives; a style of many pieces counts by the root of their number."""
    torch.manual_seed(seed)
    number = np.array([styles.count(style) for style in styles])
    worth = torch.tensor(number**-0.5 / (number**-0.5).mean(), dtype=torch.float32).repeat_interleave(x.shape[1])
    flat_x, flat_y = x.flatten(0, 1), y.flatten(0, 1)
    mean, deviation = flat_x.mean(dim=(0, 1)), flat_x.std(dim=(0, 1)) + 1e-3
    flat_x = (flat_x - mean) / deviation
    size = flat_x.shape[-1]
    inner = (torch.randn(size, HIDDEN) / size**0.5).requires_grad_()
    bias, outer = torch.zeros(HIDDEN, requires_grad=True), (torch.randn(HIDDEN) / HIDDEN**0.5).requires_grad_()
    optimiser = torch.optim.AdamW([inner, bias, outer], lr=5e-3, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, EPOCHS)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(flat_x)).split(128):
            scores = torch.relu(flat_x[batch] @ inner + bias) @ outer
            loss = -(worth[batch, None] * flat_y[batch] * torch.log_softmax(scores, dim=1)).sum(dim=1).mean()
            loss = loss + DECAY * ((inner**2).sum() + (outer**2).sum())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        schedule.step()
    plain = inner.detach() / deviation[:, None]  # for features as they are
    found = {"tempo.inner": plain, "tempo.bias": bias.detach() - mean @ plain, "tempo.outer": outer.detach()}
    return {name: value.numpy() for name, value in found.items()}


def chosen_tempi(x: np.ndarray, known: dict[str, np.ndarray]) -> np.ndarray:
    scores = np.maximum(0, x @ known["tempo.inner"] + known["tempo.bias"]) @ known["tempo.outer"]
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    merged = np.stack([np.convolve(row, np.ones(7), mode="same") for row in weights])
    return tempo.TEMPI[merged.argmax(axis=1)]


def learn_keys(x: torch.Tensor, y: torch.Tensor) -> dict[str, np.ndarray]:
    """From what `key_data` gives."""
    x, y = x.flatten(0, 1), y.flatten()
    profiles = torch.zeros(x.shape[2], 2, requires_grad=True)
    bias = torch.zeros(2, requires_grad=True)
    optimiser = torch.optim.LBFGS([profiles, bias], max_iter=300, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        scores = (x @ profiles + bias).transpose(1, 2).flatten(1)
        loss = torch.nn.functional.cross_entropy(scores, y) + KEY_DECAY * (profiles**2).mean()
        loss.backward()
        return loss

    optimiser.step(closure)
    return {"key.profiles": profiles.detach().numpy(), "key.bias": bias.detach().numpy()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tempo", action="store_true", help="learn the tempo alone")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    paths = [path for path in sorted(asked.out.glob("*.json")) if json.loads(path.read_text())["part"] == "learn"]
    learn([hear(path) for path in paths], keyed=not asked.tempo)


def find_keys(heard: Sequence[Piece]) -> dict[str, np.ndarray]:
    """The profiles of keys, with how well they do on pieces set aside."""
    keyed = [(classes, truth) for _, _, classes, truth in heard if truth["key"] is not None]
    x, y = key_data(keyed)
    which, right = folds(len(keyed)), np.zeros(len(keyed), bool)
    for fold in range(4):
        part = learn_keys(x[which != fold], y[which != fold])
        scores = x[which == fold, 0].numpy() @ part["key.profiles"] + part["key.bias"]
        chosen = scores.transpose(0, 2, 1).reshape(-1, 24).argmax(axis=1)
        right[which == fold] = chosen == y[which == fold, 0].numpy()
    print(f"key, cross-validated on {len(keyed)} pieces: right {right.mean():.3f}")
    return learn_keys(x, y)


def learn(heard: Sequence[Piece], *, keyed: bool) -> None:
    pieces = [piece for piece in heard if 42 <= piece[3]["tempo"] <= 220]  # stretched, it is still one of TEMPI
    x, y = tempo_data(pieces)
    styles = [truth["name"].split("-")[0] for *_, truth in pieces]
    truths = np.array([truth["tempo"] for *_, truth in pieces])
    which, right = folds(len(pieces)), np.zeros(len(pieces), bool)
    for fold in range(4):
        others = [style for style, one in zip(styles, which, strict=True) if one != fold]
        known = learn_tempo(x[which != fold], y[which != fold], others)
        found = chosen_tempi(x[which == fold, 0].numpy(), known)
        right[which == fold] = np.abs(np.log(found / truths[which == fold])) < np.log(1.04)
    print(f"tempo, cross-validated on {len(pieces)} pieces: accuracy 1 {right.mean():.3f}")
    several = [learn_tempo(x, y, styles, seed) for seed in range(SEEDS)]  # their mean is one network of all their units
    known = {name: np.concatenate([one[name] for one in several], axis=-1) for name in several[0]}
    known["tempo.outer"] /= SEEDS
    clear = [
        tempo.clarity(tempo.repetition(onsets, rate)[0][0], rate, truth["tempo"]) for onsets, rate, _, truth in pieces
    ]
    known["tempo.clear"] = np.array(np.quantile(clear, 0.2))
    known |= find_keys(heard) if keyed else {name: tempo.weights()[name] for name in ("key.profiles", "key.bias")}
    save_file({name: np.ascontiguousarray(value, dtype=np.float32) for name, value in known.items()}, TARGET)
    print(f"written: {TARGET.name}, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
