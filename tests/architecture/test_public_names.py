"""The names that users import: adding one is a promise, taking one away breaks somebody."""

from __future__ import annotations

import reflet

PUBLIC_NAMES = [
    "ALL_NAMESPACES",
    "AnyObject",
    "Change",
    "Cluster",
    "ConfigMap",
    "ConfigMapManager",
    "InformerSet",
    "ListOptions",
    "Mirror",
    "Needs",
    "PatchType",
    "Pod",
    "PodInputs",
    "Quantity",
    "RefletError",
    "Resource",
    "Secret",
    "SecretManager",
    "SharedInformer",
    "WatchOptions",
    "__version__",
    "blocking",
    "connect",
    "decode_object",
    "encode",
    "errors",
    "filtered",
    "pod_inputs",
    "pod_inputs_from_files",
    "resolve_environment",
    "resolve_volume",
]


def test_the_public_names_are_exactly_these() -> None:
    assert sorted(reflet.__all__) == sorted(PUBLIC_NAMES)


def test_every_public_name_is_there() -> None:
    missing = [name for name in reflet.__all__ if not hasattr(reflet, name)]

    assert missing == []


def test_every_public_name_is_listed_by_dir() -> None:
    assert set(reflet.__all__) <= set(dir(reflet))
