"""What a kustomization says of the files beside it: which are patches, and which objects it makes.

Whoever reads a folder as plain files must not take patches for objects, nor miss the ConfigMaps
and Secrets that a generator makes.  Kustomize itself is run by ``rendering``.

Upstream: sigs.k8s.io/kustomize/api/types/kustomization.go
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from reflet.api.yaml.text import read_values
from reflet.errors import DecodeError
from reflet.manifests.files import SourceText

_PATHS: Final = (
    *("patchesStrategicMerge", "configurations", "generators", "transformers", "validators"),
)
"""Fields that list files which are no objects of the cluster."""
_ENTRIES: Final = ("patches", "patchesJson6902", "replacements")
"""Fields that list mappings with the ``path`` of such a file."""
_MADE: Final = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}
_CHANGES: Final = (
    *(*_PATHS, *_ENTRIES, "namespace", "namePrefix", "nameSuffix", "commonLabels", "labels"),
    *("commonAnnotations", "images", "replicas", "vars", "components"),
)
"""Fields that change the objects that are collected."""
_INPUTS: Final = ("resources", "bases", "components", "crds")


class Kustomization(NamedTuple):
    """``patches`` are files that are no objects, ``made`` kinds and names of objects to come.

    ``inputs`` are the files and folders that it builds on; ``changes`` tells whether it does more
    with them than to collect them.
    """

    patches: frozenset[str] = frozenset()
    made: frozenset[tuple[str, str]] = frozenset()
    inputs: tuple[str, ...] = ()
    changes: bool = False


def read_kustomization(text: SourceText) -> Kustomization:
    """Read one; what cannot be understood says nothing: kustomize will complain about it."""
    folder = os.path.dirname(text.name)  # noqa: PTH120 - names, compared with those of a walk
    try:
        documents = [placed.value for placed in read_values(text.content, source=text.name)]
    except DecodeError:
        return Kustomization()
    patches, made, inputs = set[str](), set[tuple[str, str]](), list[str]()
    for document in documents:
        patches |= {_beside(folder, path) for path in _patch_paths(document)}
        made |= set(_made(document))
        inputs += [_beside(folder, path) for name in _INPUTS for path in _texts(document.get(name))]
    changes = any(document.get(name) for document in documents for name in _CHANGES)
    return Kustomization(frozenset(patches), frozenset(made), tuple(inputs), changes)


def changed_files(found: Mapping[str, Kustomization]) -> frozenset[str]:
    """Return the files that kustomizations, by folder, change before anybody applies them.

    What changes a folder changes everything that the folder's own kustomization collects.
    """
    changed = set[str]()
    waiting = [path for each in found.values() if each.changes for path in each.inputs]
    while waiting:
        path = waiting.pop()
        if path not in changed:
            changed.add(path)
            if path in found:
                waiting += found[path].inputs
    return frozenset(changed)


def _patch_paths(document: Mapping[str, Any]) -> Iterator[str]:
    for name in _PATHS:
        yield from (path for path in _texts(document.get(name)) if "\n" not in path)
    for name in _ENTRIES:
        yield from _field(document.get(name), "path")
    for chart in _mappings(document.get("helmCharts")):
        yield from _texts([chart.get("valuesFile"), *_texts(chart.get("additionalValuesFiles"))])
    schema = document.get("openapi")
    yield from _field([schema], "path")


def _made(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field, kind in _MADE.items():
        for name in _field(document.get(field), "name"):
            yield kind, name


def _field(value: object, name: str) -> Iterator[str]:
    yield from _texts([each.get(name) for each in _mappings(value)])


def _mappings(value: object) -> Iterator[Mapping[str, Any]]:
    yield from (
        each for each in (value if isinstance(value, list) else ()) if isinstance(each, dict)
    )


def _texts(value: object) -> Iterator[str]:
    yield from (
        each for each in (value if isinstance(value, list) else ()) if isinstance(each, str)
    )


def _beside(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, path))  # noqa: PTH118 - it may name nothing
