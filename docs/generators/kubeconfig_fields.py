"""The fields of a kubeconfig that are read, from the structs that read them.

Owns: the form of the list.  Must not know what a field is used for.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from reflet.transport.config import kubeconfig_loader

PARTS: Final[tuple[tuple[str, type[msgspec.Struct]], ...]] = (
    ("clusters[].cluster", kubeconfig_loader.KubeconfigCluster),
    ("users[].user", kubeconfig_loader.KubeconfigUser),
    ("users[].user.exec", kubeconfig_loader.ExecConfig),
    ("contexts[].context", kubeconfig_loader.KubeconfigContext),
)


def markdown() -> str:
    """List the fields, part by part."""
    return "\n".join(["| in | fields | what for |", "|---|---|---|", *_rows()])


def _rows() -> Iterator[str]:
    for place, struct in PARTS:
        names = ", ".join(f"`{field.encode_name}`" for field in msgspec.structs.fields(struct))
        yield f"| `{place}` | {names} | {_promise(struct)} |"


def _promise(struct: type[Any]) -> str:
    return inspect.cleandoc(struct.__doc__ or "").partition("\n\n")[0]
