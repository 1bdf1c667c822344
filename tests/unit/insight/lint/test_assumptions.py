"""What is taken to exist."""

from __future__ import annotations

import pytest

from reflet.errors import ConfigurationError
from reflet.insight.lint.assumptions import Assumptions


@pytest.mark.parametrize(
    ("text", "kind", "namespace", "name", "key"),
    [
        ("secret/db", "Secret", "shop", "db", ""),
        ("secret/db", "Secret", "shop", "db", "password"),
        ("Secrets/db", "Secret", "shop", "db", ""),
        ("cm/settings:color", "ConfigMap", "shop", "settings", "color"),
        ("cm/settings:color", "ConfigMap", "shop", "settings", ""),
        ("cm/web-*:c*", "ConfigMap", "shop", "web-a", "color"),
        ("shop/secret/db", "Secret", "shop", "db", ""),
        ("team-*/secret/*", "Secret", "team-a", "db", ""),
        ("sa/web", "ServiceAccount", "shop", "web", ""),
        ("pc/high", "PriorityClass", "", "high", ""),
        ("shop/pvc/data", "PersistentVolumeClaim", "shop", "data", ""),
        ("runtimeclass/gvisor", "RuntimeClass", "", "gvisor", ""),
    ],
)
def test_what_is_assumed_exists(text: str, kind: str, namespace: str, name: str, key: str) -> None:
    assumptions = Assumptions([text])

    assert assumptions.has(kind, namespace, name, key)
    assert assumptions.unused() == ()


@pytest.mark.parametrize(
    ("text", "kind", "namespace", "name", "key"),
    [
        ("secret/db", "ConfigMap", "shop", "db", ""),
        ("secret/db", "Secret", "shop", "db2", ""),
        ("secret/db", "Secret", "shop", "DB", ""),
        ("shop/secret/db", "Secret", "other", "db", ""),
        ("cm/settings:color", "ConfigMap", "shop", "settings", "size"),
    ],
)
def test_nothing_else_does(text: str, kind: str, namespace: str, name: str, key: str) -> None:
    assumptions = Assumptions([text])

    assert not assumptions.has(kind, namespace, name, key)
    assert assumptions.unused() == (text,)


@pytest.mark.parametrize(
    "text", ["", "db", "secret/", "/db", "pod/web", "a/b/secret/db", "secret/db:", "shop//db"]
)
def test_what_names_no_object_is_a_mistake(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is nothing to assume: write secret/NAME"):
        Assumptions([text])


def test_only_configuration_has_keys() -> None:
    with pytest.raises(ConfigurationError, match="'sa/web:x': a ServiceAccount has no keys"):
        Assumptions(["sa/web:x"])


def test_what_is_in_no_namespace_is_assumed_in_none() -> None:
    with pytest.raises(ConfigurationError, match="a PriorityClass is in no namespace"):
        Assumptions(["shop/pc/high"])
