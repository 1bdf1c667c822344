"""Volumes are resolved as far as they are known, and what is not known is not written."""

from __future__ import annotations

import json

from reflet.api import codec
from reflet.api.core.config import ConfigMap
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.cli.output.volume_files import writable
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.pod_inputs import PodInputs

SETTINGS = ConfigMap(metadata=ObjectMeta(name="settings", namespace="shop"), data={"a": "1"})


def inputs(token: str) -> PodInputs:
    sources = [{"configMap": {"name": "settings"}}, {"serviceAccountToken": {"path": "token"}}]
    spec = {
        "containers": [{"name": "web"}],
        "volumes": [
            {"name": "scratch", "emptyDir": {}},
            {"name": "all", "projected": {"sources": sources, "defaultMode": 0o644}},
        ],
    }
    raw = {"metadata": {"name": "web", "namespace": "shop"}, "spec": spec}
    return PodInputs(
        pod=codec.decode(json.dumps(raw).encode(), Pod),
        objects=ObjectsInHand([SETTINGS]),
        token=lambda _audience, _seconds: token,
    )


def test_volumes_without_configuration_are_not_meant() -> None:
    assert [contents.volume for contents in inputs("t").volumes().values()] == ["all"]


def test_a_token_that_was_not_asked_for_is_not_known_and_not_written() -> None:
    (contents,) = inputs("").volumes().values()

    known, unknown = writable(contents)

    assert (list(known.files), unknown) == (["a"], ("token",))
    assert contents.error is None


def test_a_token_that_was_given_is_written() -> None:
    (contents,) = inputs("abc").volumes().values()

    assert writable(contents) == (contents, ())
