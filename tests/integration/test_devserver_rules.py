"""Rules and patterns of custom resources, over the wire."""

from __future__ import annotations

import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from reflet.apirules import regular_expressions
from tests.integration.plain_client import Client
from tests.integration.test_serve_command import client_of, serving
from tests.patience import overload

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GEARS = "/apis/example.org/v1/gears"
TEXT = {"type": "string"}


def definition(**fields: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": fields},
            "status": {"type": "object", "properties": {"teeth": {"type": "integer"}}},
        },
        "x-kubernetes-validations": [
            {"rule": "!has(self.status) || self.status.teeth > 0", "message": "no teeth"}
        ],
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    return {
        "metadata": {"name": "gears.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Cluster",
            "names": {"plural": "gears", "kind": "Gear"},
            "versions": [version],
        },
    }


def gear(**spec: Any) -> dict[str, Any]:
    head = {"apiVersion": "example.org/v1", "kind": "Gear", "metadata": {"name": "small"}}
    return {**head, "spec": spec}


def ruled(schema: dict[str, Any], rule: str) -> dict[str, Any]:
    return {**schema, "x-kubernetes-validations": [{"rule": rule}]}


def test_a_rule_is_asked_on_create_update_and_of_the_status(client: Client) -> None:
    client.create(DEFINITIONS, definition(name=ruled(TEXT, "self == 'small'")))

    refused = client.request("POST", GEARS, gear(name="large"))
    stored = client.create(GEARS, gear(name="small"))
    changed = client.request("PUT", f"{GEARS}/small", {**stored, "spec": {"name": "large"}})
    status = client.request("PUT", f"{GEARS}/small/status", {**stored, "status": {"teeth": 0}})

    said = "Invalid value: \"large\": failed rule: self == 'small'"
    assert refused.message == f'Gear.example.org "small" is invalid: spec.name: {said}'
    assert (changed.code, changed.body["details"]["causes"][0]["message"]) == (422, said)
    assert status.message == 'Gear.example.org "small" is invalid: <nil>: Invalid value: no teeth'


def test_a_rule_that_does_not_compile_is_refused_with_its_definition(client: Client) -> None:
    refused = client.request("POST", DEFINITIONS, definition(name=ruled(TEXT, "self.x == 1")))

    (cause,) = refused.body["details"]["causes"]
    assert cause["field"] == (
        "spec.validation.openAPIV3Schema.properties[spec].properties[name]"
        ".x-kubernetes-validations[0].rule"
    )


def test_what_was_wrong_before_and_is_left_alone_is_only_a_warning(client: Client) -> None:
    loose = client.create(DEFINITIONS, definition(name=TEXT, size={"type": "integer"}))
    stored = client.create(GEARS, gear(name="large"))
    strict = definition(name=ruled(TEXT, "self == 'small'"), size={"type": "integer"})
    path = f"{DEFINITIONS}/gears.example.org"
    replaced = client.request("PUT", path, {**strict, "metadata": loose["metadata"]})
    spec = {"name": "large", "size": 1}

    answer = client.request("PUT", f"{GEARS}/small", {**stored, "spec": spec})

    assert (replaced.code, answer.code) == (200, 200)
    assert "failed rule: self == 'small'" in answer.headers["warning"]


def test_without_a_linear_engine_the_definition_is_told_what_is_not_enforced(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regular_expressions, "linear_engine", lambda: None)
    monkeypatch.setattr("reflet.apirules.object_warnings.linear_engine", lambda: None)
    regular_expressions.compiled.cache_clear()

    answer = client.request("POST", DEFINITIONS, definition(name={**TEXT, "pattern": "^(a+)+$"}))
    long = client.request("POST", GEARS, gear(name="a" * 50_000 + "b"))

    regular_expressions.compiled.cache_clear()
    assert "properties[name].pattern: not enforced: " in answer.headers["warning"]
    assert long.code == 201


def test_with_one_every_pattern_is_enforced_at_once(client: Client) -> None:
    answer = client.request("POST", DEFINITIONS, definition(name={**TEXT, "pattern": "^(a+)+$"}))
    refused = client.request("POST", GEARS, gear(name="a" * 50_000 + "b"))

    assert (answer.code, refused.code) == (201, 422)
    assert "warning" not in answer.headers


WORST = "self.all(x, self.all(y, self.all(z, string(x) + string(y) != string(z) || true)))"


@pytest.mark.time_limit(120)
def test_the_server_ends_when_told_while_it_answers_the_worst_request(tmp_path: Path) -> None:
    numbers = {"type": "array", "items": {"x-kubernetes-int-or-string": True}}
    fields = {f"n{number}": ruled(numbers, WORST) for number in range(20)}

    with serving("--no-tls", "--kubeconfig-out", str(tmp_path / "config")) as (process, said):
        client = client_of(said)
        client.create(DEFINITIONS, definition(**fields))
        body = gear(**dict.fromkeys(fields, list(range(38))))  # noqa: RUF024 - never changed
        busy = threading.Thread(target=_ask, args=(client, body))
        busy.start()
        _wait_until_busy(process)
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=60 * overload())
        busy.join()

    assert code == 0


def _ask(client: Client, body: Any) -> None:
    try:
        client.request("POST", GEARS, body)
    except OSError:
        return  # the server ended, or this took longer than the client waits


def _wait_until_busy(process: subprocess.Popen[str]) -> None:
    """Wait until the process has used more of a processor than a start and a definition take."""
    used = Path(f"/proc/{process.pid}/stat")
    start = _ticks(used)
    while _ticks(used) < start + 30:
        assert process.poll() is None


def _ticks(stat: Path) -> int:
    fields = stat.read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
