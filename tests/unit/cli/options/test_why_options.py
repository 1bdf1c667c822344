"""What people type behind ``reflet why``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
import pytest

from reflet.cli.options.why_options import why_targets
from tests.unit.cli.scripted_api import ScriptedApi, reflet, refusal

SHOP = "/api/v1/namespaces/shop"
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}


@pytest.mark.parametrize(
    ("arguments", "targets"),
    [
        ((), []),
        (("web-1",), [("pod", "web-1")]),
        (("deploy",), [("deploy", None)]),
        (("deploy/web",), [("deploy", "web")]),
        (("deploy", "web", "api"), [("deploy", "web"), ("deploy", "api")]),
        (("deploy,sts",), [("deploy", None), ("sts", None)]),
        (("pod/a", "sts/b"), [("pod", "a"), ("sts", "b")]),
        (("rollout", "web"), [("rollout", "web")]),
    ],
)
def test_targets_are_read_as_kubectl_reads_them(
    arguments: tuple[str, ...], targets: list[tuple[str, str | None]]
) -> None:
    assert why_targets(arguments) == targets


@pytest.mark.parametrize("arguments", [("",), ("deploy", ""), ("deploy/", "a/b"), ("a/b/c",)])
def test_what_is_no_target_is_a_mistake(arguments: tuple[str, ...]) -> None:
    with pytest.raises(click.UsageError):
        why_targets(arguments)


def empty(kind: str, version: str = "v1") -> Mapping[str, Any]:
    return {"apiVersion": version, "kind": f"{kind}List", "metadata": {}, "items": []}


EMPTY = {
    f"{SHOP}/pods": empty("Pod"),
    f"{SHOP}/events": empty("Event"),
    f"{SHOP}/replicationcontrollers": empty("ReplicationController"),
    **{
        f"/apis/apps/v1/namespaces/shop/{kind.lower()}s": empty(kind, "apps/v1")
        for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
    },
    **{
        f"/apis/batch/v1/namespaces/shop/{kind.lower()}s": empty(kind, "batch/v1")
        for kind in ("Job", "CronJob")
    },
}


def said(
    documents: Mapping[str, Any], capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str]:
    with ScriptedApi(documents).serving() as api:
        code = reflet(api, "why", *arguments, "-n", "shop")
    output = capsys.readouterr()
    return code, output.out + output.err


def test_an_empty_namespace_is_not_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said({**EMPTY, SHOP: NAMESPACE}, capsys)

    assert (code, text) == (0, "nothing to check\n")


def test_a_namespace_that_does_not_exist_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(EMPTY, capsys)

    assert (code, text) == (2, "error: namespace shop does not exist\n")


def test_labels_that_nothing_has_are_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said({**EMPTY, SHOP: NAMESPACE}, capsys, "-l", "app=web")

    assert (code, text) == (2, "error: no pod or workload has app=web in namespace shop\n")


def test_labels_that_cannot_be_read_are_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(EMPTY, capsys, "-l", "app=(")

    assert code == 2
    assert text.startswith("error: ")


def test_a_name_that_is_not_there_says_what_is(capsys: pytest.CaptureFixture[str]) -> None:
    deployments = "/apis/apps/v1/namespaces/shop/deployments"
    template: Mapping[str, Any] = {"selector": {}, "template": {"spec": {"containers": []}}}
    there = {
        **empty("Deployment", "apps/v1"),
        "items": [{"metadata": {"name": "web", "namespace": "shop"}, "spec": template}],
    }

    code, text = said({**EMPTY, deployments: there}, capsys, "deploy/db")

    assert (code, text) == (
        2,
        "error: there is no deployment/db in namespace shop; there is deployment/web\n",
    )


def test_who_may_list_nothing_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    refused = dict.fromkeys(EMPTY, refusal(403, "Forbidden", "you cannot list that"))

    code, text = said(refused, capsys)

    assert (code, text) == (4, "error: you cannot list that\n")
