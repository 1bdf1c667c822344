"""The ConfigMaps and Secrets that many pods name, read with few requests and kept small.

For all namespaces, each kind is listed once, and of what nobody names nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from msgspec import structs

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.options import ListOptions
from reflet.client.client import ALL_NAMESPACES, Client
from reflet.client.rest import OnPage
from reflet.errors import Forbidden
from reflet.podconfig.gather_objects import (
    HELM_RELEASES,
    NO_HELM_RELEASES,
    Answers,
    read_objects,
)
from reflet.resolution.objects import ConfigKind, ObjectKey, missing

Text = TypeVar("Text", str, bytes)

LONG: Final = 4096
"""Letters of a value; longer ones are left out, unless they are wrong by themselves."""
TOO_LONG: Final = 1 << 17
"""Bytes that one variable cannot have."""

_KINDS: Final[Mapping[ConfigKind, tuple[type[Any], ListOptions]]] = {
    "ConfigMap": (ConfigMap, ListOptions()),
    "Secret": (Secret, ListOptions(field_selector=NO_HELM_RELEASES)),
}


async def read_many_objects(
    cluster: Client,
    keys: Collection[ObjectKey],
    *,
    everywhere: bool,
    on_pages: Callable[[], OnPage] | None = None,
) -> Answers[ConfigMap | Secret]:
    """Get ConfigMaps and Secrets, or the error of reading each.

    With *everywhere*, kinds are listed over all namespaces, or as ``read_objects`` does it by
    whoever may not.  Of large values only the keys are kept: thousands of objects then fit in
    memory, and only what is wrong about the size of a whole environment cannot be found.

    Raises the error of a server that cannot be asked.
    """
    if not everywhere:
        return await read_objects(cluster, keys)
    answers: Answers[ConfigMap | Secret] = {}
    for kind, (struct, options) in _KINDS.items():
        wanted = {key for key in keys if key[0] == kind and not key[2].startswith(HELM_RELEASES)}
        if not wanted:
            continue
        client = cluster.resource(struct, namespace=ALL_NAMESPACES)
        take = partial(_taken, wanted)
        try:
            listing = await client.list_as(take, options, on_page=on_pages() if on_pages else None)
        except Forbidden:
            answers |= await read_objects(cluster, wanted)
            continue
        there = {_key(each): each for each in listing.items if each is not None}
        answers |= {key: there.get(key) or missing(kind, key[2]) for key in wanted}
    return answers | await read_objects(cluster, [key for key in keys if key not in answers])


def _taken(wanted: set[ObjectKey], item: ConfigMap | Secret) -> ConfigMap | Secret | None:
    return slim(item) if _key(item) in wanted else None


def _key(item: ConfigMap | Secret) -> ObjectKey:
    return item.kind, item.metadata.namespace, item.metadata.name


def slim(item: ConfigMap | Secret) -> ConfigMap | Secret:
    """Return an object without its large values; one that no variable can have stays."""
    if isinstance(item, Secret):
        secrets = {key: _short(value, b"\0", b"") for key, value in item.data.items()}
        return structs.replace(item, data=secrets)
    texts = {key: _short(value, "\0", "") for key, value in item.data.items()}
    return structs.replace(item, data=texts, binary_data=dict.fromkeys(item.binary_data, b""))


def _short(value: Text, zero: Text, nothing: Text) -> Text:
    if len(value) <= LONG or len(value) >= TOO_LONG or zero in value:
        return value
    return nothing
