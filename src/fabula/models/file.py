"""Model files, what they must hold and what their card says: one safetensors file whose header says what it is.

The header's metadata holds one text, ``fabula``: JSON with ``format``, ``version``, ``kind``, ``config``, ``features``
(names, logged, shape), ``training`` and ``card``. Names, shapes and dtypes of the tensors follow from the
configuration, as :mod:`fabula.models.config` says, and all are checked on loading. There are three kinds of file:
``essence`` (each item encoded by itself), ``set`` (whose header holds the vocabulary), ``steps`` (measures and pairs).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabula.core.display import name_some, table_html
from fabula.core.files import check_nested
from fabula.core.fingerprints import fingerprints_of
from fabula.errors import FabulaError, ModelError
from fabula.models.config import Array, EncoderKind, Shape, as_mapping, as_whole
from fabula.models.encoders import encoder_kind
from fabula.models.encoders.measures import measures_config, neighbour_tensors
from fabula.models.encoders.set import SetSpec, as_set, set_dtype
from fabula.models.scorers import MEASURED, dtype_of, scorer_kind
from fabula.models.titles import Vocabulary
from fabula.models.transform import Transform

if TYPE_CHECKING:
    from fabula.models.model import Model

FORMAT = "fabula-model"
VERSION = 1

Header = dict[str, Any]
Stored = dict[str, NDArray[Any]]


class ModelParts(NamedTuple):
    """What a model is made of: its configuration, its tensors, and what turns items into numbers first."""

    config: Header
    tensors: Mapping[str, Any]
    inputs: Any = None


def model_bytes(model: Model) -> bytes:
    """The content of a model's file."""
    from safetensors.numpy import save

    kind = _KIND_OF.get(model.config["encoder"]["kind"], "essence")
    _, _, write = _KINDS[kind]
    header, tensors = write(model)
    start = {"format": FORMAT, "version": VERSION, "kind": kind}
    document = start | header | {"training": model.training, "card": model.card}
    content = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    return save(content, metadata={"fabula": json.dumps(document, ensure_ascii=False)})


def read_parts(data: bytes, where: str) -> tuple[Header, ModelParts]:
    """The header of a model's file, and what the model is made of; ``where`` names it in errors."""
    try:
        tensors, metadata = read_tensors(data)
    except ValueError as error:
        raise ModelError(f"{where}: is not a model file, or is cut short (safetensors expected: {error})") from error
    if "fabula" not in metadata:
        raise ModelError(f"{where}: is a safetensors file of another program (its header does not mention fabula)")
    try:
        check_nested(metadata["fabula"], where)
        header = json.loads(metadata["fabula"])
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{where}: the header is damaged (JSON expected: {error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelError(f'{where}: is not a model file (its header must say "format": "{FORMAT}")')
    version, kind = header.get("version"), header.get("kind")
    if type(version) is not int or version < 1:
        raise ModelError(f"{where}: the header is damaged (version {version!r})")
    if version > VERSION:
        raise ModelError(f"{where}: model file version {version}; this fabula reads up to {VERSION}: update fabula")
    if kind not in _KINDS:
        raise ModelError(f"{where}: is a model of kind {kind!r}; expected: {', '.join(map(repr, _KINDS))}")
    part, read, _ = _KINDS[kind]
    try:
        for key in ("config", part, "training", "card"):
            as_mapping(header.get(key), key)
        return header, read(header, tensors)
    except FabulaError as error:
        raise ModelError(f"{where}: {error}") from error


def read_tensors(data: bytes) -> tuple[Stored, dict[str, str]]:
    """The tensors of a safetensors file and its metadata; a ValueError where it is none."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        size = int.from_bytes(data[:8], "little")
        return load(data), json.loads(data[8 : 8 + size]).get("__metadata__") or {}
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(error) from error


def _read_essence(header: Header, tensors: Stored) -> ModelParts:
    _check_dtypes(tensors, dtype_of)
    names, logged, shape = (header["features"].get(key) for key in ("names", "logged", "shape"))
    if not all(isinstance(part, list) and all(isinstance(n, str) for n in part) for part in (names, logged)):
        raise ModelError('the header\'s "features" must list "names" and "logged"')
    bound = header["features"].get("bound", 0.0)
    if not isinstance(bound, int | float):
        raise ModelError(f'the header\'s "bound" must be a number; got {bound!r}')
    for name in ("transform.mean", "transform.deviation"):
        if name not in tensors:
            raise ModelError(f"tensor {name!r} is missing")
        if list(tensors[name].shape) != shape or len(names) != shape[0]:
            raise ModelError(f"tensor {name!r} must have the header's shape {shape}; got {tensors[name].shape}")
    transform = Transform(names, logged, tensors.pop("transform.mean"), tensors.pop("transform.deviation"), bound)
    return ModelParts(header["config"], tensors, transform)


def _write_essence(model: Model) -> tuple[Header, Stored]:
    transform = model.transform
    features = {
        "names": list(transform.feature_names),
        "logged": list(transform.logged),
        "bound": transform.bound,
        "shape": list(transform.item_shape),
    }
    measured = {"transform.mean": transform.mean, "transform.deviation": transform.deviation}
    return {"config": model.config, "features": features}, {**measured, **model.tensors}


def _read_set(header: Header, tensors: Stored) -> ModelParts:
    _check_dtypes(tensors, set_dtype)
    known = {key: header["vocabulary"].get(key) for key in ("tokens", "grams")}
    if not all(isinstance(entries, list) for entries in known.values()):
        raise ModelError('the header\'s "vocabulary" must list "tokens" and "grams"')
    sizes = {key: value for key, value in header["config"].items() if key != "scorers"}
    spec = SetSpec.from_dict(sizes)
    if [header.get("features", {}).get("names")] != [list(spec.features)]:
        raise ModelError('the header\'s "features" must be those of its "config"')
    vocabulary = Vocabulary(tuple(known["tokens"]), tuple(known["grams"]))
    config = _with_more(spec.config(), header)
    return ModelParts(config, tensors, vocabulary)


def _write_set(model: Model) -> tuple[Header, Stored]:
    encoder = as_set(model.encoder)
    spec, vocabulary = encoder.spec, encoder.vocabulary
    header = {
        "config": spec.to_dict() | _more(model, spec.config()),
        "features": {"names": list(spec.features), "logged": list(spec.logged)},
        "vocabulary": {"tokens": list(vocabulary.tokens), "grams": list(vocabulary.grams)},
    }
    return header, {name: tensor.astype(set_dtype(name)) for name, tensor in model.tensors.items()}


_STEP_NAMES = {"arcs": "arcs.template", "reach": "reach.weights", "lexicon": "lexicon.weights"}  # in the file: here


def _read_steps(header: Header, tensors: Stored) -> ModelParts:
    names, logged = (header["features"].get(key) for key in ("names", "logged"))
    pairs, words = (header["config"].get(key) for key in ("pairs", "words"))
    if "steps" in header["config"]:  # written before there was reach
        pairs, words = header["config"]["steps"], {}
    if not isinstance(names, list) or not isinstance(words, dict):
        raise ModelError('the header must list "names" of the features, and the "words" of each language')
    own: Mapping[str, Any] = {_STEP_NAMES.get(name, name): t.T if name == "arcs" else t for name, t in tensors.items()}
    if "steps" in header["config"]:
        if set(tensors) != {"arcs", "flow"}:
            raise ModelError(f"a model of steps has the tensors arcs and flow; got {', '.join(tensors) or 'none'}")
        own = neighbour_tensors(tensors["arcs"], tensors["flow"])
    return ModelParts(_with_more(measures_config(names, logged, pairs, words), header), own)


def _write_steps(model: Model) -> tuple[Header, Stored]:
    encoder = model.config["encoder"]
    plain = measures_config(*(encoder[key] for key in ("features", "logged", "pairs", "words")))
    header = {
        "config": {"pairs": encoder["pairs"], "words": encoder["words"]} | _more(model, plain),
        "features": {"names": encoder["features"], "logged": encoder["logged"]},
    }
    there = {here: stored for stored, here in _STEP_NAMES.items()}
    tensors = {
        there.get(name, name): (t.T if name == "arcs.template" else t).astype(np.float32)
        for name, t in model.tensors.items()
    }
    return header, tensors


def _with_more(config: Header, header: Header) -> Header:
    """A configuration with the scorers that a file has beside the usual ones."""
    more = header["config"].get("scorers", [])
    return config | {"scorers": [*config["scorers"], *(more if isinstance(more, list) else [more])]}


def _more(model: Model, usual: Header) -> Header:
    """The scorers that a model has beside the usual ones, as a part of a header; nothing where there is none."""
    more = [settings for settings in model.config["scorers"] if settings not in usual["scorers"]]
    return {"scorers": more} if more else {}


def _check_dtypes(tensors: Stored, stored: Callable[[str], str]) -> None:
    for name, tensor in tensors.items():
        if tensor.dtype != stored(name):
            raise ModelError(f"tensor {name!r} must be {stored(name)}; got {tensor.dtype}")


# By kind of file: which part its header has beside the usual, and how it is read and written.
_KINDS = {
    "essence": ("features", _read_essence, _write_essence),
    "set": ("vocabulary", _read_set, _write_set),
    "steps": ("features", _read_steps, _write_steps),
}
_KIND_OF = {"set": "set", "measures": "steps"}  # encoder -> kind of file


def plain(value: Mapping[str, Any], what: str) -> dict[str, Any]:
    """A copy that holds nothing but what JSON can hold, or an error that says so."""
    try:
        copied = json.loads(json.dumps(value, allow_nan=False, default=_as_plain))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"a model's {what} must hold finite numbers, texts, lists and names only ({error})") from error
    return dict(copied)


def _as_plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"got {type(value).__name__}")


def tensor_shapes(config: Mapping[str, Any], item_shape: Shape) -> dict[str, Shape]:
    """Name and shape of every tensor of a model with this configuration; an error where it breaks a rule.

    ``item_shape`` is that of one item's features, (f,) or (f, s); () where they do not lie in an array of their own.

    >>> tensor_shapes({"dimensions": 2, "encoder": {"kind": "identity"}, "scorers": []}, (2,))
    {'transform.mean': (2,), 'transform.deviation': (2,)}
    """
    d = as_whole(config, "dimensions", "the configuration")
    settings = as_mapping(config.get("encoder"), "encoder")
    kind = encoder_kind(settings.get("kind"))
    shapes: dict[str, Shape] = {}
    if kind.load is None:
        if len(item_shape) != kind.axes or min(item_shape, default=0) < 1:
            name = settings["kind"]
            raise ModelError(f"{name} encoder needs features with {kind.axes} axes per item; got shape {item_shape}")
        shapes = dict.fromkeys(MEASURED, item_shape)
    shapes |= kind.shapes(settings, item_shape, d)
    scorers = config.get("scorers")
    if not isinstance(scorers, list):
        raise ModelError(f'the configuration\'s "scorers" must be a list; got {scorers!r}')
    seen: set[Any] = set()
    for own in scorers:
        name = as_mapping(own, "scorers").get("kind")
        shapes |= scorer_kind(name).shapes(own, d)
        if name in seen:
            raise ModelError(f"a model has a scorer of each kind at most once; got {name!r} twice")
        seen.add(name)
    return shapes


def check_tensors(tensors: Mapping[str, ArrayLike], shapes: Mapping[str, Shape], kind: EncoderKind) -> dict[str, Array]:
    """The tensors in the dtype they are computed with, rounded as they are stored."""
    for name in tensors:
        if name not in shapes:
            raise ModelError(f"tensor {name!r} is not one of this model's")
    checked: dict[str, Array] = {}
    for name, shape in shapes.items():
        if name not in tensors:
            raise ModelError(f"tensor {name!r} is missing")
        stored = dtype_of(name) if kind.stored is None else kind.stored(name)
        used = stored if kind.load is None else "float64"
        tensor = np.array(tensors[name], order="C").astype(stored).astype(used)
        if tensor.shape != shape:
            raise ModelError(f"tensor {name!r} must have shape {shape}; got {tensor.shape}")
        if not np.isfinite(tensor).all():
            raise ModelError(f"tensor {name!r} must be finite; it holds NaN or inf")
        checked[name] = tensor
    return checked


# What a model says of itself: its card in one line, as lines for people, and as a small table in a notebook.

HISTORY = "history"  # what the epochs brought: too long for a card
_HIDDEN = ("settings", "seen", HISTORY)


def card_lines(model: Model) -> list[tuple[str, str]]:
    """Label and value of what a model's user may want to know, from what it takes to how it did.

    >>> from fabula.models.model import Model
    >>> from fabula.models.transform import Transform
    >>> config = {"dimensions": 1, "encoder": {"kind": "identity"}, "scorers": []}
    >>> model = Model(config, {}, Transform(("energy",), (), [0.0], [1.0]), card={"bits": {"arcs": 0.25}})
    >>> card_lines(model)[-2:]
    [('bits, arcs', '0.25'), ('training, seen', 'not recorded')]
    """
    size = sum(tensor.size for tensor in model.tensors.values())
    made_of = [("scorers", ", ".join(model.scorers) or "none"), ("numbers inside", f"{size:,}")]
    trained = flat(describe_training(model.training), "training")
    return [*model.encoder.describe(), *made_of, *flat(model.card, ""), *trained]


def card_brief(model: Model) -> str:
    """A model in one line: its features, its scorers and its first bits."""
    found = [(label, value.partition(" (")[0]) for label, value in flat(model.card, "") if label.startswith("bits")]
    bits = "".join(f"; {label} {value}" for label, value in found[:2])
    return (
        f"<{type(model).__name__}: {name_some(model.feature_names, 4) or 'no features'}; "
        f"scorers {', '.join(model.scorers) or 'none'}{bits}>"
    )


def card_html(model: Model) -> str:
    """A model as a small table."""
    return table_html(["", ""], card_lines(model), caption=type(model).__name__)


def describe_training(training: Mapping[str, Any]) -> dict[str, Any]:
    """What a card tells of the training: all but its settings, its epochs and the digests of what it has seen."""
    seen = fingerprints_of(training)
    known = "not recorded" if seen is None else f"digests of {len(seen):,} collections, by which they are known again"
    return {**{key: value for key, value in training.items() if key not in _HIDDEN}, "seen": known}


def flat(value: Any, label: str) -> Iterator[tuple[str, str]]:
    """Nested names as one label: ("bits, arcs", "0.25")."""
    if isinstance(value, Mapping) and {"bits", "low", "high"} <= set(value):
        bits, low, high = (f"{round(value[key], 3) + 0.0:.3f}" for key in ("bits", "low", "high"))  # no "-0.000"
        count = f", {value['collections']:,} collections" if "collections" in value else ""
        yield label, f"{bits} (95 % interval {low} to {high}{count})"
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flat(inner, f"{label}, {key}" if label else str(key))
    elif isinstance(value, list):
        yield label, ", ".join(map(_show, value))
    else:
        yield label, _show(value)


def _show(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
