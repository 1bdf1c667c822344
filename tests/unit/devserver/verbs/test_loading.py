"""Objects read from files, each with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.devserver.verbs.loading import read_manifests
from reflet.errors import ConfigurationError

TWO = """# a comment
kind: ConfigMap
apiVersion: v1
metadata: {name: a}
---

kind: Namespace
apiVersion: v1
metadata: {name: b}
"""


def test_every_document_knows_its_line_and_namespaces_come_first(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(TWO)

    found = read_manifests([str(tmp_path)])

    assert [(each.document["kind"], each.place.rpartition(":")[2]) for each in found] == [
        ("Namespace", "7"),
        ("ConfigMap", "2"),
    ]


def test_a_list_is_its_items(tmp_path: Path) -> None:
    file = tmp_path / "list.yaml"
    file.write_text("{kind: List, apiVersion: v1, items: [{kind: A},\n {kind: B}]}")

    found = read_manifests([str(file)])

    assert [(each.document["kind"], each.place) for each in found] == [
        ("A", f"{file}:1"),
        ("B", f"{file}:2"),
    ]


def test_a_key_that_is_there_twice_is_a_mistake(tmp_path: Path) -> None:
    file = tmp_path / "twice.yaml"
    file.write_text("kind: ConfigMap\nkind: Secret\n")

    with pytest.raises(ConfigurationError, match=r'twice\.yaml:2: the key "kind" is there twice'):
        read_manifests([str(file)])


def test_empty_documents_are_nothing(tmp_path: Path) -> None:
    file = tmp_path / "empty.yaml"
    file.write_text("---\n---\n# only a comment\n")

    assert read_manifests([str(file)]) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [("a: [", "bad.yaml:1: "), ("a: 1\nb: {\n", "bad.yaml:"), ("- 1\n", "bad.yaml:1: not an obj")],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(content)

    with pytest.raises(ConfigurationError, match=said):
        read_manifests([str(file)])


@pytest.mark.parametrize("content", ["", "\n", "# nothing yet\n", "\ufeff"])
def test_an_empty_file_is_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text(content)

    assert read_manifests([str(path)]) == []


def test_what_is_nested_without_end_is_refused_soon(tmp_path: Path) -> None:
    path = tmp_path / "deep.yaml"
    path.write_text("kind: Pod\nspec: " + "[" * 100_000)

    with pytest.raises(ConfigurationError, match=r"deep\.yaml:2: nested too deeply"):
        read_manifests([str(path)])


def test_a_file_that_is_no_text_is_told_by_its_line(tmp_path: Path) -> None:
    file = tmp_path / "bytes.yaml"
    file.write_bytes(b"# fine\n\xff\xfe\n")

    with pytest.raises(ConfigurationError, match=r"bytes\.yaml:2: not valid UTF-8"):
        read_manifests([str(file)])


def test_a_folder_without_manifests_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="has no file that ends in"):
        read_manifests([str(tmp_path)])


def test_a_key_that_is_there_twice_in_json_is_a_mistake(tmp_path: Path) -> None:
    file = tmp_path / "twice.json"
    file.write_text('{"kind": "List", "items": [\n{"kind": "A",\n"kind": "B"}]}')

    with pytest.raises(ConfigurationError, match=r'twice\.json:3: the key "kind" is there twice'):
        read_manifests([str(file)])


def test_json_may_be_indented_with_tabs(tmp_path: Path) -> None:
    file = tmp_path / "tabs.json"
    file.write_text('{\n\t"kind": "A"\n}')

    assert [each.document for each in read_manifests([file])] == [{"kind": "A"}]


def test_an_object_of_the_program_is_copied_and_named_by_its_number() -> None:
    mine = {"kind": "ConfigMap", "data": {"a": "1"}}

    (found,) = read_manifests([mine])
    mine["data"] = {}

    assert (found.place, found.document["data"]) == ("load[0]", {"a": "1"})


def test_an_object_that_json_cannot_say_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"load\[1\]: not an object that JSON can say"):
        read_manifests([{"kind": "A"}, {"kind": object()}])
