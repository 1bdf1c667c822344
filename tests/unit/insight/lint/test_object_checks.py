"""ConfigMaps and Secrets by themselves, and against a cluster's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.meta import ObjectMeta
from reflet.errors import Forbidden, RefletError
from reflet.insight.lint import rules
from reflet.insight.lint.linting import lint
from reflet.manifests.applying import read_applied
from reflet.podconfig.gather_lint import subjects_of
from reflet.resolution.objects import ObjectKey
from tests.unit.insight.lint.conftest import Linted

CANARY = "canary-hush-hush"
CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: blue}
"""
SECRET = f"""\
apiVersion: v1
kind: Secret
metadata: {{name: database}}
stringData: {{password: {CANARY}}}
"""
POD = """\
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    image: i
"""


def live(**facts: Any) -> dict[ObjectKey, ConfigMap | Secret | RefletError]:
    metadata = ObjectMeta(namespace="default", name="settings")
    return {("ConfigMap", "default", "settings"): ConfigMap(metadata=metadata, **facts)}


def test_an_immutable_object_may_not_differ(linted: Linted) -> None:
    (finding,) = linted(CONFIG_MAP, live=live(immutable=True, data={"color": "red", "b": "1"}))

    assert finding.rule.id == "RFL013"
    assert finding.message == (
        "ConfigMap default/settings is immutable in the cluster and differs in b, color"
    )


def test_an_immutable_object_stays_immutable(linted: Linted) -> None:
    (finding,) = linted(CONFIG_MAP, live=live(immutable=True, data={"color": "blue"}))

    assert "cannot be made mutable again" in finding.message


def test_the_same_immutable_object_is_fine(linted: Linted) -> None:
    text = CONFIG_MAP + "immutable: true\n"

    assert linted(text, live=live(immutable=True, data={"color": "blue"})) == ()


def test_a_mutable_object_may_differ(linted: Linted) -> None:
    assert linted(CONFIG_MAP, live=live(data={"color": "red"})) == ()


def test_the_type_of_a_secret_cannot_be_changed(linted: Linted) -> None:
    metadata = ObjectMeta(namespace="default", name="database")
    there = Secret(metadata=metadata, type="kubernetes.io/tls", data={"password": b"other-canary"})

    (finding,) = linted(SECRET, live={("Secret", "default", "database"): there})

    assert (finding.rule.id, finding.path) == ("RFL013", "type")
    assert "canary" not in repr(finding)


def test_an_object_that_cannot_be_read_is_not_compared(linted: Linted) -> None:
    answers: Any = {("ConfigMap", "default", "settings"): Forbidden("no")}

    assert linted(CONFIG_MAP, live=answers) == ()


def test_unused_objects_are_told(linted: Linted) -> None:
    findings = linted(f"{CONFIG_MAP}---\n{SECRET}", unused=True)

    assert [finding.message for finding in findings] == [
        "nothing in the files uses ConfigMap default/settings",
        "nothing in the files uses Secret default/database",
    ]


def test_service_accounts_and_ingresses_use_secrets(linted: Linted) -> None:
    account = (
        "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\n"
        "imagePullSecrets: [{name: database}]\n"
    )
    ingress = (
        "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\n"
        "spec: {tls: [{secretName: database}], defaultBackend: "
        "{service: {name: a, port: {number: 80}}}}\n"
    )

    assert linted(SECRET + account, unused=True) == ()
    assert linted(SECRET + ingress, unused=True) == ()


def test_a_secret_in_plain_text_is_told_without_showing_it(linted: Linted) -> None:
    pod = POD + f"    env:\n    - {{name: PASSWORD, value: {CANARY}}}\n"
    config_map = (
        f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{a: {CANARY}}}\n"
    )

    findings = linted(SECRET + pod + config_map)

    assert [finding.message for finding in findings] == [
        "the value of variable PASSWORD is that of key password of Secret default/database",
        "the value of a is that of key password of Secret default/database",
    ]
    assert CANARY not in repr(findings)


def test_short_values_are_equal_by_chance(linted: Linted) -> None:
    pod = POD + "    env:\n    - {name: PASSWORD, value: abc}\n"

    assert linted(SECRET.replace(CANARY, "abc") + pod) == ()


def test_an_object_that_stands_twice_in_a_file_is_a_warning_that_says_which_one_counts(
    linted: Linted, tmp_path: Path
) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

    (finding,) = linted(f"{text}---\n{text}")

    assert (finding.rule.id, finding.severity.value, finding.line) == ("RFL026", "warning", 7)
    assert finding.message == (
        f"ConfigMap default/a also stands at {tmp_path}/a.yaml:1; applied together, this one counts"
    )


def test_in_several_files_of_a_folder_it_is_one_note(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
        )

    (finding,) = lint(subjects_of(read_applied([str(tmp_path)])), chosen=[rules.DUPLICATE_OBJECT])

    assert (finding.severity.value, Path(finding.file).name) == ("note", "b.yaml")
    assert finding.message.startswith(
        f"2 objects stand in several files of {tmp_path}, and the last counts"
    )


def test_values_that_are_no_secrets_may_stand_elsewhere(linted: Linted) -> None:
    text = (
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
        "stringData: {url: https://example.com/x, username: postgres, token: hunter2hunter2}\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n"
        "    image: i\n    env:\n    - {name: A, value: https://example.com/x}\n"
        "    - {name: B, value: postgres}\n    - {name: C, value: hunter2hunter2}\n"
    )

    (finding,) = linted(text)

    assert (finding.rule.id, finding.line) == ("RFL023", 16)


def test_a_key_that_stands_twice_is_a_warning(linted: Linted) -> None:
    (finding,) = linted(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {}\ndata: {a: b}\n"
    )

    assert (finding.rule.id, finding.line) == ("RFL025", 5)
    assert finding.message == 'the key "data" is there twice; the last one counts'
