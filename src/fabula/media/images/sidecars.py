"""XMP: what a sidecar, or a packet in a picture, says of it; and sidecars that say where it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from fabula.core.files.atomic import write_whole
from fabula.errors import FileError, shown

_MOST = 1 << 20  # bytes of a packet that is read
_DC, _XMP = "{http://purl.org/dc/elements/1.1/}", "{http://ns.adobe.com/xap/1.0/}"
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_FABULA = "https://fabula.invalid/ns/1.0/"
_OURS = "fabula:position"


def sidecar_of(path: str | Path) -> bytes | None:
    """What lies in the sidecar of a picture (``a.xmp`` or ``a.jpg.xmp``); None where there is none, or too much."""
    file = Path(path)
    for beside in (file.with_suffix(".xmp"), file.with_name(file.name + ".xmp")):
        try:
            if beside.is_file() and beside.stat().st_size <= _MOST:
                return beside.read_bytes()
        except OSError:
            continue
    return None


def read_packet(packet: bytes | str) -> dict[str, Any]:
    """Title, artist and rating of an XMP packet, as far as it says them; nothing of one that is broken.

    Examples
    --------
    >>> read_packet(written((3, 12), None, rating=4))
    {'rating': 4}
    """
    text = packet.decode("utf-8", "replace") if isinstance(packet, bytes) else packet
    if len(text) > _MOST or re.search(r"<!(DOCTYPE|ENTITY)", text):  # nothing honest needs them here
        return {}
    try:
        root = ET.fromstring(text.strip().strip("\0\ufeff"))
    except (ET.ParseError, ValueError):
        return {}
    found: dict[str, Any] = {}
    for name, tag in (("title", f"{_DC}title"), ("artist", f"{_DC}creator")):
        node = root.find(f".//{tag}//{_RDF}li")
        if node is not None and (node.text or "").strip():
            found[name] = " ".join(str(node.text).split())
    rating = _rating(root)
    return found | ({} if rating is None else {"rating": rating})


def _rating(root: ET.Element) -> int | None:
    values = [node.get(f"{_XMP}Rating") for node in root.iter(f"{_RDF}Description")]
    values += [node.text for node in root.iter(f"{_XMP}Rating")]
    numbers = [int(value) for value in values if value and re.fullmatch(r"\s*[0-5]\s*", value)]
    return numbers[0] if numbers else None


def written(number: tuple[int, int], side: tuple[int, int] | None, *, rating: int | None = None) -> str:
    """An XMP packet that says where a picture stands."""
    parts = [f'{_OURS}="{number[0]}"', f'fabula:of="{number[1]}"']
    parts += [] if side is None else [f'fabula:side="{side[0]}"', f'fabula:sides="{side[1]}"']
    parts += [] if rating is None else [f'xmp:Rating="{rating}"']
    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        f'<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:fabula="{escape(_FABULA)}" '
        f"{' '.join(parts)}/></rdf:RDF></x:xmpmeta>\n"
    )


def numbered(path: Path) -> Path:
    """The sidecar that says where a picture stands; the picture itself is never written.

    Raises
    ------
    FileError
        When a sidecar that says something else is there already.
    """
    target = path.with_name(path.name + ".xmp")
    if target.exists() and _OURS not in target.read_text(encoding="utf-8", errors="replace"):
        raise FileError(f"{shown(target)}: is there already, and is not ours to replace")
    return target


def write_numbers(path: Path, number: tuple[int, int], side: tuple[int, int] | None) -> None:
    """Write the number of a position, and of a side where there are several, into a sidecar beside a picture."""
    write_whole(numbered(path), written(number, side))
