from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from reflet.api.unstructured import AnyObject
from reflet.cli.output.change_output import DocumentOutput, TableOutput
from reflet.informer.handlers.changes import Change


def table(*, with_namespace: bool = False, no_headers: bool = True, columns: int = 80) -> Any:
    return TableOutput(
        with_namespace=with_namespace,
        no_headers=no_headers,
        columns=columns,
        now=lambda: datetime(2026, 1, 1, 12, 30, 59, tzinfo=UTC),
    )


def added(name: str, namespace: str = "shop", **members: Any) -> Change[AnyObject]:
    metadata = {"name": name, "namespace": namespace}
    content = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **members}
    return Change("ADDED", AnyObject.from_dict(content))


def secret() -> Change[AnyObject]:
    return added("s", kind="Secret", data={"password": "Y2FuYXJ5"})


def test_a_batch_stands_in_columns_under_headings() -> None:
    output = table(no_headers=False)

    text = "".join(output.changed([added("a"), added("settings")])) + output.synced(2)

    assert text == (
        "TYPE      TIME       NAME       DETAILS\n"
        "ADDED     12:30:59   a          0 keys\n"
        "ADDED     12:30:59   settings   0 keys\n"
        "SYNCED    12:30:59              2 objects\n"
    )


def test_namespaces_have_a_column_when_they_differ() -> None:
    output = table(with_namespace=True)

    (line,) = output.changed([added("a")])

    assert line == "ADDED     12:30:59   shop        a      0 keys\n"


def test_details_end_where_the_terminal_ends() -> None:
    many = {f"key-{number}": "1" for number in range(20)}
    old = added("a").object
    change = Change("UPDATED", added("a", data=many).object, old)

    (line,) = table(columns=80).changed([change])

    assert len(line.rstrip("\n")) <= 80
    assert line.endswith("…\n")


def test_a_very_long_name_moves_only_its_own_line() -> None:
    long, short = table().changed([added("n" * 60), added("a")])

    assert "n" * 60 in long
    assert short == "ADDED     12:30:59   a      0 keys\n"


def test_names_have_no_power_over_a_terminal() -> None:
    (line,) = table().changed([added("a\x1b[2J")])

    assert "\x1b" not in line


def test_lines_of_json() -> None:
    output = DocumentOutput("jsonl", reveal=False)

    (line,) = output.changed([added("a")])

    assert line.count("\n") == 1
    assert json.loads(line)["object"]["metadata"]["name"] == "a"
    assert output.synced(1) == '{"type":"SYNCED","object":null}\n'


def test_documents_of_json_follow_each_other() -> None:
    output = DocumentOutput("json", reveal=False)

    text = "".join(output.changed([added("a"), added("b")]))

    first, end = json.JSONDecoder().raw_decode(text)
    second, _ = json.JSONDecoder().raw_decode(text[end:].lstrip())
    assert [document["object"]["metadata"]["name"] for document in (first, second)] == ["a", "b"]


def test_documents_of_yaml_are_separate() -> None:
    output = DocumentOutput("yaml", reveal=False)

    documents = [*output.changed([added("a")]), output.synced(1)]

    assert all(document.startswith("---\n") for document in documents)
    assert "type: ADDED" in documents[0]
    assert "object: null" in documents[1]


def test_secrets_are_masked_unless_revealed() -> None:
    (masked,) = DocumentOutput("jsonl", reveal=False).changed([secret()])
    (shown,) = DocumentOutput("jsonl", reveal=True).changed([secret()])

    assert "Y2FuYXJ5" not in masked
    assert "Y2FuYXJ5" in shown


def test_a_line_leaves_nothing_behind_in_the_object() -> None:
    change = added("a", data={"k": "v"})
    other = Change("UPDATED", added("a", data={"k": "w"}).object, change.object)

    lines = [*table().changed([change, other])]

    assert len(lines) == 2
    # What a watch keeps of an object is its bytes, and not the several times larger content.
    assert change.object._content is None
    assert other.object._content is None


def test_managed_fields_are_for_those_who_ask() -> None:
    managed = [{"manager": "kubectl"}]
    change = added("a", metadata={"name": "a", "managedFields": managed})

    (hidden,) = DocumentOutput("jsonl", reveal=False).changed([change])
    (told,) = DocumentOutput("jsonl", reveal=False, managed_fields=True).changed([change])

    assert "managedFields" not in json.loads(hidden)["object"]["metadata"]
    assert json.loads(told)["object"]["metadata"]["managedFields"] == managed


def test_the_kind_of_a_change_has_a_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    changes = [added("a"), Change("DELETED", added("a").object)]

    come, gone = table().changed(changes)

    assert come.startswith("\x1b[32mADDED  \x1b[0m   12:30:59")
    assert gone.startswith("\x1b[31m\x1b[1mDELETED\x1b[0m   12:30:59")
    assert table().synced(1).startswith("\x1b[2mSYNCED \x1b[0m")
