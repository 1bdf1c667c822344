"""Mounts at one path, and mounts that never change."""

from __future__ import annotations

import pytest

from tests.unit.insight.lint.conftest import Linted


def mounting(*mounts: str) -> str:
    lines = "".join(f"    - {mount}\n" for mount in mounts)
    return f"""\
apiVersion: v1
kind: ConfigMap
metadata: {{name: settings}}
data: {{a: "1"}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web}}
spec:
  volumes:
  - {{name: conf, configMap: {{name: settings}}}}
  - {{name: scratch, emptyDir: {{}}}}
  containers:
  - name: web
    image: i
    volumeMounts:
{lines}"""


@pytest.mark.parametrize("other", ["/etc/a", "/etc/a/", "/etc//a", "/etc/b/../a"])
def test_paths_that_are_the_same_are_found_however_they_are_written(
    linted: Linted, other: str
) -> None:
    text = mounting("{name: conf, mountPath: /etc/a}", f"{{name: scratch, mountPath: {other}}}")

    (finding,) = linted(text)

    assert (finding.rule.id, finding.line) == ("RFL011", 18)


def test_a_path_inside_another_is_fine(linted: Linted) -> None:
    text = mounting("{name: conf, mountPath: /etc/a}", "{name: scratch, mountPath: /etc/a/b}")

    assert linted(text) == ()


def test_sub_paths_of_configuration_are_noted(linted: Linted) -> None:
    text = mounting(
        "{name: conf, mountPath: /a, subPath: a}", "{name: scratch, mountPath: /b, subPath: b}"
    )

    (finding,) = linted(text)

    assert (finding.rule.id, finding.line) == ("RFL017", 17)


def test_a_sub_path_that_is_missing_need_not_be_refreshed(linted: Linted) -> None:
    assert [
        each.rule.id for each in linted(mounting("{name: conf, mountPath: /a, subPath: b}"))
    ] == ["RFL018"]
