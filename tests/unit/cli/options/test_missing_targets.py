"""A pod that a server does not have: where it was looked for, and what is there instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.cli.scripted_api import ScriptedApi, reflet, refusal

SHOP = "/api/v1/namespaces/shop"
DEPLOYMENTS = "/apis/apps/v1/namespaces/shop/deployments"
FORBIDDEN = refusal(403, "Forbidden", "not you")
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}


def listing(kind: str, *names: str) -> Mapping[str, Any]:
    version = "v1" if kind == "Pod" else "apps/v1"
    spec: Mapping[str, Any] = (
        {}
        if kind == "Pod"
        else {"selector": {"matchLabels": {"a": "b"}}, "template": {"spec": {"containers": []}}}
    )
    return {
        "apiVersion": version,
        "kind": f"{kind}List",
        "metadata": {},
        "items": [
            {"metadata": {"name": name, "namespace": "shop"}, "spec": spec} for name in names
        ],
    }


@pytest.mark.parametrize(
    ("documents", "target", "said"),
    [
        (
            {DEPLOYMENTS: listing("Deployment", "db", "web-front")},
            "deploy/web-frnt",
            "deployment/web-frnt in namespace shop; did you mean deployment/web-front?",
        ),
        (
            {DEPLOYMENTS: listing("Deployment", "db", "cache")},
            "deploy/web",
            "deployment/web in namespace shop; there are deployment/cache, deployment/db",
        ),
        (
            {f"{SHOP}/pods": listing("Pod", "db")},
            "web",
            "pod/web in namespace shop; there is pod/db",
        ),
        (
            {DEPLOYMENTS: listing("Deployment"), "/api/v1/namespaces/shop": NAMESPACE},
            "deploy/web",
            "deployment/web in namespace shop, which has no deployments",
        ),
        (
            {DEPLOYMENTS: listing("Deployment")},
            "deploy/web",
            "deployment/web in namespace shop: that namespace does not exist",
        ),
        (
            {DEPLOYMENTS: FORBIDDEN},
            "deploy/web",
            "deployment/web in namespace shop: that namespace does not exist",
        ),
        (
            {DEPLOYMENTS: FORBIDDEN, "/api/v1/namespaces/shop": FORBIDDEN},
            "deploy/web",
            "deployment/web in namespace shop",
        ),
    ],
)
@pytest.mark.parametrize("command", ["env", "explain", "files", "rbac", "refs", "why"])
def test_what_is_not_there_is_one_line_with_what_is(
    command: str,
    documents: Mapping[str, Mapping[str, Any]],
    target: str,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ScriptedApi(documents).serving() as api:
        code = reflet(api, command, target, "-n", "shop")

    assert (code, capsys.readouterr()) == (2, ("", f"error: there is no {said}\n"))


@pytest.mark.parametrize("command", ["env", "explain", "files", "rbac", "refs"])
def test_a_type_without_a_name_is_told_from_a_pod(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedApi({DEPLOYMENTS: listing("Deployment", "web")}).serving() as api:
        code = reflet(api, command, "deploy", "-n", "shop")

    assert (code, capsys.readouterr().err) == (
        2,
        (
            "error: there is no pod/deploy in namespace shop: deploy is a type, so name one of "
            "them, as in deploy/NAME; there is deployment/web\n"
        ),
    )


def test_no_more_than_two_requests_are_made_for_it() -> None:
    with ScriptedApi({DEPLOYMENTS: listing("Deployment")}).serving() as api:
        reflet(api, "env", "deploy/web", "-n", "shop")

    assert api.targets == [
        f"{DEPLOYMENTS}/web",
        f"{DEPLOYMENTS}?limit=500",
        "/api/v1/namespaces/shop",
    ]


def test_a_kind_that_the_server_does_not_have_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedApi({}).serving() as api:
        code = reflet(api, "env", "deploy/web", "-n", "shop")

    assert (code, capsys.readouterr().err) == (2, "error: the server has no deployments.apps\n")


def test_run_keeps_its_own_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedApi({f"{SHOP}/pods": listing("Pod", "db")}).serving() as api:
        code = reflet(api, "run", "web", "-n", "shop")

    assert (code, capsys.readouterr().err) == (
        125,
        "reflet: error: there is no pod/web in namespace shop; there is pod/db\n",
    )
