"""What makes a collection the same one when it is opened again: where it comes from and what is in it."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fabula.session.session import Session


@dataclass(frozen=True)
class Origin:
    """Where a collection comes from.

    Attributes
    ----------
    kind
        ``"path"`` of this machine, ``"upload"``, ``"demo"``, or a ``"session"`` that was saved.
    path
        Of this machine, for the first kind.
    collection
        Which collection of a source of several.
    """

    kind: Literal["path", "upload", "demo", "session"]
    path: str = ""
    collection: str | None = None


def collection_id(session: Session, origin: Origin) -> str:
    """The id of a collection: the same for the same source with the same items in it, in any run of the server.

    Items are the same when their ids, paths and lengths are; where they are no files, their numbers count as well.
    The essence, which can be changed, does not count.

    Examples
    --------
    >>> from fabula.core.collection import Item
    >>> from fabula.session.session import session_of
    >>> one, other = (session_of([Item("a"), Item("b")], values) for values in ([1.0, 2.0], [1.0, 3.0]))
    >>> collection_id(one, Origin("upload")) == collection_id(one, Origin("upload"))
    True
    >>> collection_id(one, Origin("upload")) == collection_id(other, Origin("upload"))
    False
    """
    collection = session.collection
    rows = [[item.id, item.path, None if item.length is None else repr(item.length)] for item in collection.items]
    where = [origin.kind, origin.path, origin.collection, str(session.source.path), session.medium.name]
    digest = hashlib.sha256(json.dumps([where, rows], ensure_ascii=True).encode())
    if not session.source.files:
        digest.update(json.dumps(list(collection.feature_names)).encode())
        digest.update(np.ascontiguousarray(collection.features, dtype="<f8").tobytes())
    return base64.urlsafe_b64encode(digest.digest()[:15]).decode()
