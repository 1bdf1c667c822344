"""ConfigMaps and Secrets by themselves, and against a cluster's."""

from __future__ import annotations

from typing import Any

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.meta import ObjectMeta
from reflet.errors import Forbidden, RefletError
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
