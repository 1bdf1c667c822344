"""Objects of files are stored as an apply would store them, to the byte."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.request.authentication import TokenIssuer
from reflet.devserver.request.bodies import Body
from reflet.devserver.request.request_options import WriteOptions
from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import Key, Stored
from reflet.devserver.verbs.loading import MANAGER, load, plant, read_manifests
from reflet.devserver.verbs.patching import APPLY_PATCH, patch
from reflet.devserver.verbs.state import State
from reflet.devserver.verbs.writing import Writing, at_once
from reflet.errors import ConfigurationError
from tests.real.good_objects import good_objects

Document = dict[str, Any]
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
GOOD = {
    name: json.loads(json.dumps(document).replace("{namespace}", "default"))
    for name, _, document in good_objects()
    # An object that is not there cannot be applied by its uid.
    if {"apiVersion", "kind"} <= document.keys() and "uid" not in document["metadata"]
    if document["metadata"].get("name")
}


def new_state() -> State:
    """A server of which nothing depends on time or chance."""
    state = State(
        Storage(),
        tokens=TokenIssuer(b"secret"),
        now=lambda: NOON,
        new_uid=lambda: "uid",
        chance=lambda below: 7 % below,
    )
    plant(state, 443)
    return state


def kind_of(state: State, document: Document) -> ServedKind:
    kind = state.kinds.by_kind(document["apiVersion"], document["kind"])
    assert kind is not None
    return kind


def stored_in(state: State, document: Document) -> Stored | None:
    kind = kind_of(state, document)
    namespace = "default" if kind.namespaced else ""
    return state.storage.get(Key(kind.storage_key, namespace, document["metadata"]["name"]))


@pytest.mark.parametrize("name", GOOD)
def test_a_list_in_a_file_is_stored_as_a_patch_would_store_it(name: str, tmp_path: Path) -> None:
    document = GOOD[name]
    file = tmp_path / "list.json"
    file.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [document]}))
    by_file, by_patch = new_state(), new_state()
    kind = kind_of(by_patch, document)
    options = WriteOptions(manager=MANAGER, validation="Strict", force=True)
    namespace = "default" if kind.namespaced else ""
    writing = Writing(by_patch, kind, namespace, options, document["metadata"]["name"])

    load(by_file, read_manifests([str(file)]))
    at_once(patch(writing, Body(json.dumps(document).encode(), APPLY_PATCH)))

    assert stored_in(by_file, document) == stored_in(by_patch, document)
    assert stored_in(by_file, document) is not None


def test_an_object_that_is_refused_is_named_by_its_line(tmp_path: Path) -> None:
    good = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "good"}}
    bad = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "BAD"}}
    file = tmp_path / "list.json"
    file.write_text(
        json.dumps({"kind": "List", "apiVersion": "v1", "items": [good, bad]}, indent=1)
    )

    with pytest.raises(ConfigurationError, match=r'list\.json:12: ConfigMap "BAD" is invalid'):
        load(new_state(), read_manifests([str(file)]))


def test_loading_again_changes_nothing() -> None:
    state = new_state()
    documents = [{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}}]

    said = [load(state, read_manifests(documents)) for _ in range(2)]
    documents[0]["data"] = {"level": "info"}
    said.append(load(state, read_manifests(documents)))

    assert said == [
        ["configmaps/a in default created"],
        ["configmaps/a in default unchanged"],
        ["configmaps/a in default configured"],
    ]


def test_text_that_is_half_a_character_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "half.json"
    file.write_text(
        '\n{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"a":"\\ud800"}}'
    )

    with pytest.raises(ConfigurationError, match=r"half\.json:2: not valid Unicode text"):
        load(new_state(), read_manifests([str(file)]))


def test_an_object_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    inside = '{"a":' * 200 + "1" + "}" * 200
    file.write_text(
        '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":' + inside + "}"
    )

    with pytest.raises(ConfigurationError, match=r"deep\.json:1: .*exceeded max depth"):
        load(new_state(), read_manifests([str(file)]))


def test_an_object_with_several_mistakes_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, amespace: b}, data: x}")

    with pytest.raises(ConfigurationError) as caught:
        load(new_state(), read_manifests([str(file)]))

    assert ".metadata.amespace: field not declared in schema" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
