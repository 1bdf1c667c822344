"""``reflet lint``: what a person sees, and what a script gets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from reflet.cli.commands.lint import FORMS
from reflet.cli.main import run
from tests.unit.cli.scripted_api import ScriptedApi, reflet, refusal

CANARY = "canary-hush-hush"
SHOP = f"""\
apiVersion: v1
kind: Pod
metadata: {{name: web}}
spec:
  containers:
  - name: web
    image: i
    envFrom:
    - configMapRef: {{name: settings}}
    - secretRef: {{name: credentials, optional: true}}
    env:
    - {{name: PASSWORD, value: {CANARY}}}
---
apiVersion: v1
kind: Secret
metadata: {{name: database}}
stringData: {{password: {CANARY}}}
---
apiVersion: v1
kind: Service
metadata: {{name: web}}
spec: {{ports: [{{port: 80}}]}}
"""
BASE = "/api/v1/namespaces/default"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.yaml").write_text(SHOP)
    return tmp_path


@pytest.fixture
def lint(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def lint(*arguments: str) -> tuple[int, str, str]:
        code = run(["reflet", "lint", *arguments])
        return code, *capsys.readouterr()

    return lint


def test_findings_are_told_file_by_file(lint: Any) -> None:
    code, output, errors = lint("-f", "shop.yaml")

    assert (code, errors) == (1, "")
    assert (
        output
        == """\
shop.yaml:9: error RFL002 missing-object
    9 |     - configMapRef: {name: settings}
      |                            ^^^^^^^^
    container web: ConfigMap default/settings does not exist
    kubelet: configmap "settings" not found
    fix: create ConfigMap settings in namespace default
    see: https://reflet.dev/reference/lint/RFL002.html

shop.yaml:10: note RFL004 masked-by-optional
    10 |     - secretRef: {name: credentials, optional: true}
       |                         ^^^^^^^^^^^
    container web: Secret default/credentials does not exist (optional)
    fix: create Secret credentials in namespace default
    see: https://reflet.dev/reference/lint/RFL004.html

shop.yaml:12: warning RFL023 plain-secret
    the value of variable PASSWORD is that of key password of Secret
    default/database
    fix: use valueFrom.secretKeyRef
    see: https://reflet.dev/reference/lint/RFL023.html

1 error, 1 warning, 1 note in 3 objects
"""
    )


def test_files_are_named_without_a_flag_as_well(lint: Any, folder: Path) -> None:
    (folder / "more.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
    )

    assert lint("shop.yaml")[:2] == lint("-f", "shop.yaml")[:2]
    assert lint("shop.yaml", "more.yaml", "--select", "RFL002")[0] == 0
    assert lint("-f", "shop.yaml", "more.yaml", "--select", "RFL002")[0] == 0


def test_a_reader_who_has_enough_does_not_change_the_exit_code(folder: Path) -> None:
    program = (sys.executable, "-c", "from reflet.cli.main import main; main()")
    reader, writer = os.pipe()
    os.close(reader)

    done = subprocess.run(
        [*program, "lint", "shop.yaml"],
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=folder,
        check=False,
    )

    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


def test_documents_come_as_yaml_too(lint: Any) -> None:
    _, output, _ = lint("shop.yaml", "-o", "yaml")

    assert yaml.safe_load(output) == json.loads(lint("shop.yaml", "-o", "json")[1])


def test_no_findings_are_told_too(lint: Any) -> None:
    assert lint("-f", "shop.yaml", "--ignore", "RFL002,RFL004,RFL023")[:2] == (
        0,
        "no findings in 3 objects\n",
    )


def test_files_without_objects_are_a_mistake(lint: Any, folder: Path) -> None:
    (folder / "empty.yaml").write_text("---\n# nothing\n")

    assert lint("-f", "empty.yaml") == (
        2,
        "",
        "error: the files hold no objects: there is nothing to check\n",
    )


def test_warnings_fail_only_when_they_are_asked_to(lint: Any) -> None:
    assert lint("-f", "shop.yaml", "--select", "RFL023")[0] == 0
    assert lint("-f", "shop.yaml", "--select", "RFL023", "--strict")[0] == 1


def test_unused_objects_are_told_when_they_are_asked_for(lint: Any) -> None:
    code, output, _ = lint("-f", "shop.yaml", "--select", "unused")

    assert code == 0
    assert "nothing in the files uses Secret default/database" in output


@pytest.mark.parametrize("form", FORMS)
def test_no_form_shows_a_secret(lint: Any, form: str) -> None:
    code, output, errors = lint("-f", "shop.yaml", "-o", form, "--select", "ALL")

    assert code == 1
    assert "RFL023" in output
    assert CANARY not in output + errors


def test_the_rules_are_listed_in_80_columns(lint: Any) -> None:
    code, output, _ = lint("--rules")

    lines = output.splitlines()
    assert (code, lines[0]) == (0, "RULE     LEVEL     FINDS")
    assert lines[2] == "RFL002   error     a pod names a ConfigMap or Secret that does not exist"
    assert max(map(len, lines)) <= 80


def test_the_rules_are_listed_for_programs(lint: Any) -> None:
    rules = json.loads(lint("--rules", "-o", "json")[1])

    assert lint("--rules", "-o", "yaml")[1].startswith("- id: RFL001\n  name: refused\n")
    assert rules[18] == {
        "id": "RFL019",
        "name": "unused",
        "severity": "note",
        "summary": "nothing in the files uses the ConfigMap or Secret",
        "usual": False,
    }


def found(kind: str, name: str, **facts: Any) -> Mapping[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        **facts,
    }


def test_a_cluster_is_asked_for_each_object_by_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api = ScriptedApi(
        {
            f"{BASE}/configmaps/settings": found("ConfigMap", "settings"),
            f"{BASE}/secrets/credentials": found("Secret", "credentials"),
            f"{BASE}/secrets/database": found("Secret", "database", immutable=True),
        }
    )

    with api.serving():
        code = reflet(api, "lint", "-f", "shop.yaml", "--against", "cluster", "-o", "json")

    rules = [finding["rule"] for finding in json.loads(capsys.readouterr().out)["findings"]]
    assert (code, rules) == (1, ["RFL023", "RFL013"])
    assert sorted(api.targets) == [
        f"{BASE}/configmaps/settings",
        f"{BASE}/secrets/credentials",
        f"{BASE}/secrets/database",
    ]


@pytest.mark.parametrize(("flags", "expected"), [((), 4), (("--unreadable=note",), 0)])
def test_what_may_not_be_read_is_noted_and_fails_unless_told_otherwise(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    flags: tuple[str, ...],
    expected: int,
) -> None:
    api = ScriptedApi({f"{BASE}/configmaps/settings": refusal(403, "Forbidden", "not for you")})

    with api.serving():
        code = reflet(api, "lint", "-f", "shop.yaml", "--against", "cluster", "-o", "json", *flags)

    document = json.loads(capsys.readouterr().out)
    assert code == expected
    assert [finding["rule"] for finding in document["findings"]] == ["RFL004", "RFL023"]
    assert document["notes"] == [
        "ConfigMap default/settings could not be read, so it is not checked: not for you"
    ]


def test_a_server_that_is_not_there_ends_it(lint: Any) -> None:
    code, output, errors = lint(
        *("-f", "shop.yaml", "--against", "cluster", "-s", "http://127.0.0.1:1")
    )

    assert (code, output) == (3, "")
    assert "connection refused" in errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name the files to check"),
        (("-f", "gone.yaml"), "cannot read gone.yaml: No such file or directory"),
        (("-f", "shop.yaml", "--select", "RFL9"), "there is no rule 'RFL9'"),
        (("-f", "shop.yaml", "--against", "nobody"), "'nobody' is not one of"),
        (("-f", "broken.yaml"), "broken.yaml:2: "),
    ],
)
def test_mistakes_are_one_line(
    lint: Any, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    (folder / "broken.yaml").write_text(f"a: b\n  {CANARY}: d\n")

    code, output, errors = lint(*arguments)

    assert (code, output) == (2, "")
    (line,) = errors.splitlines()
    assert said in line
    assert CANARY not in line


def test_what_the_server_cannot_decode_is_a_finding_and_shows_no_value(
    lint: Any, folder: Path
) -> None:
    (folder / "base64.yaml").write_text(
        f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\ndata:\n  k: {CANARY}\n"
    )

    code, output, errors = lint("-f", "base64.yaml")

    assert (code, errors) == (1, "")
    assert "base64.yaml:5: error RFL001 refused" in output
    assert "illegal base64 data" in output
    assert CANARY not in output


def test_a_secret_that_is_refused_is_not_shown(lint: Any, folder: Path) -> None:
    (folder / "secret.yaml").write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
        f"type: kubernetes.io/dockerconfigjson\nstringData: {{'a b': {CANARY}, "
        f".dockerconfigjson: {CANARY}}}\n"
    )

    code, output, errors = lint("-f", "secret.yaml", "-o", "json")

    assert (code, errors) == (1, "")
    assert {finding["rule"] for finding in json.loads(output)["findings"]} == {"RFL001"}
    assert CANARY not in output
