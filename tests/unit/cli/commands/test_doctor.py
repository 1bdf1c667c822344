"""``reflet doctor``: what works on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflet.cli import machine_checks
from reflet.cli.main import run
from reflet.processes import isolation_check
from reflet.runtime import platforms
from tests.unit.cli.scripted_api import ScriptedApi, reflet, refusal

SERVER = {"gitVersion": "v1.36.0", "platform": "linux/amd64", "goVersion": "go1.26"}


@pytest.fixture(autouse=True)
def _nobody_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(isolation_check, "why_not_isolated", lambda: None)  # it takes a process


def checks(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}


def test_a_server_that_answers_is_named_with_its_version(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ScriptedApi({"/version": SERVER}).serving() as api:
        assert reflet(api, "doctor", "-o", "json") == 0

    found = checks(capsys)["server"]
    assert found["state"] == "ok"
    assert found["detail"].endswith("is Kubernetes v1.36.0")


def test_no_cluster_at_all_is_a_limit_and_no_failure_and_where_was_looked_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/no/such/file")

    assert run(["reflet", "doctor", "-o", "json"]) == 0

    found = checks(capsys)["server"]
    assert (found["state"], found["detail"].partition(":")[0]) == (
        "limited",
        "no cluster is configured",
    )
    assert "KUBECONFIG: /no/such/file does not exist" in found["detail"]
    assert "KUBECONFIG" in found["fix"]


def test_a_server_that_does_not_answer_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reflet", "doctor", "--server", "http://127.0.0.1:1", "-o", "json"]) == 1

    found = checks(capsys)["server"]
    assert found["state"] == "broken"
    assert found["detail"].count("http://127.0.0.1:1") == 1
    assert found["fix"] == "start the server, or choose another --context"


def test_a_server_that_does_not_know_us_says_what_to_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    refused = refusal(401, "Unauthorized", "Unauthorized")
    with ScriptedApi({"/version": refused}).serving() as api:
        assert reflet(api, "doctor", "-o", "json") == 1

    assert checks(capsys)["server"]["fix"] == "log in again, or check the user of the context"


def test_a_broken_kubeconfig_is_a_failure_that_names_the_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken").write_text("- not: [a kubeconfig")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "broken"))

    assert run(["reflet", "doctor", "-o", "json"]) == 1
    assert str(tmp_path / "broken") in checks(capsys)["server"]["detail"]


def test_what_is_missing_names_how_to_get_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(machine_checks, "find_spec", lambda _: None)

    assert run(["reflet", "doctor", "-o", "json"]) == 0
    found = checks(capsys)
    assert found["tls"]["fix"].startswith("install reflet[devserver]")
    assert found["kustomize"]["detail"] == "kustomize or kubectl is not in PATH"


@pytest.mark.parametrize(
    ("here", "state", "words", "looks"),
    [
        (platforms.LINUX, "ok", "Linux: everything", True),
        (platforms.MACOS, "limited", "macOS: everything but run --isolate", True),
        (platforms.WINDOWS, "limited", "Windows: the library", False),
    ],
)
def test_each_platform_has_its_tier(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    here: platforms.Platform,
    state: str,
    words: str,
    looks: bool,
) -> None:
    monkeypatch.setattr(machine_checks, "HERE", here)

    assert run(["reflet", "doctor", "-o", "json"]) == 0
    found = checks(capsys)
    assert found["platform"]["state"] == state
    assert found["platform"]["detail"].startswith(words)
    assert ("isolation" in found) == looks


def test_a_machine_without_namespaces_is_limited(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolation_check, "why_not_isolated", lambda: "operation not permitted")

    assert run(["reflet", "doctor", "-o", "json"]) == 0
    found = checks(capsys)["isolation"]
    assert (found["state"], found["fix"]) == ("limited", "node --run --no-isolation")
    assert found["detail"].endswith(": operation not permitted")


def test_people_get_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reflet", "doctor"]) == 0

    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names[:3] == ["platform", "python", "server"]
    assert len(names) == len(set(names))
