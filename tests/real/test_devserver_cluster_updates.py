"""What may change of webhooks, policies, flows, API services and requests is as on a real server.

Approvals and statuses too, which other people than the owner write.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.certificate_texts import CERTIFICATE, CERTIFICATE_PEM, REQUEST, REQUEST_PEM, as_bytes
from tests.real.devserver_objects import Case, Manifest
from tests.real.devserver_side import DevServerSide, comparable
from tests.real.good_objects import good_objects
from tests.real.kube_server import KubeServer

GOOD = {title: (title, path, body) for title, path, body in good_objects()}
REQUESTED = GOOD["certificate request"]
HOOKS, POLICY, BINDING = (
    GOOD[title] for title in ("validating webhooks", "validating policy", "mutating policy binding")
)
SCHEMA, LEVEL, SERVICE = (
    GOOD[title] for title in ("flow schema", "limited priority level", "local API service")
)
Change = Callable[[Any], object]
APPROVED, DENIED, FAILED, OTHER = (
    {"type": kind, "status": "True", "reason": "Because"}
    for kind in ("Approved", "Denied", "Failed", "Other")
)
CONDITION = {"type": "a b", "status": "<x>", "reason": "1"}


def _status(**fields: Any) -> Change:
    return lambda made: made.setdefault("status", {}).update(fields)


def _conditions(*conditions: Any, **fields: Any) -> Change:
    return _status(conditions=list(conditions), **fields)


def _all(document: Any) -> None:
    """Change everything that the owner may not."""
    document["spec"] = {"request": "AAAA", "signerName": "", "usages": []}
    document["status"] = {"conditions": [APPROVED], "certificate": "AAAA"}


def _warnings(*warnings: Any) -> Change:
    return _status(typeChecking={"expressionWarnings": list(warnings)})


UPDATES: list[tuple[str, Case, str, Change]] = [
    ("approved", REQUESTED, "approval", _conditions(APPROVED)),
    ("denied", REQUESTED, "approval", _conditions(DENIED)),
    ("approved and denied", REQUESTED, "approval", _conditions(APPROVED, DENIED)),
    ("approved twice", REQUESTED, "approval", _conditions(APPROVED, APPROVED)),
    ("not approved", REQUESTED, "approval", _conditions(APPROVED | {"status": "False"})),
    ("neither", REQUESTED, "approval", _conditions({"type": ""}, {"type": "x", "status": "<x>"})),
    ("approved and signed", REQUESTED, "approval", _conditions(APPROVED, certificate=CERTIFICATE)),
    ("approved by the way", REQUESTED, "status", _conditions(APPROVED)),
    ("denied by the way", REQUESTED, "status", _conditions(OTHER, DENIED)),
    ("failed", REQUESTED, "status", _conditions(FAILED)),
    ("signed", REQUESTED, "status", _status(certificate=CERTIFICATE)),
    ("signed with nothing", REQUESTED, "status", _status(certificate="")),
    ("signed with bytes", REQUESTED, "status", _status(certificate="AAAA")),
    ("signed with a request", REQUESTED, "status", _status(certificate=REQUEST)),
    ("signed twice", REQUESTED, "status", _status(certificate=as_bytes(CERTIFICATE_PEM * 2))),
    ("mixed", REQUESTED, "status", _status(certificate=as_bytes(CERTIFICATE_PEM + REQUEST_PEM))),
    (
        "signed with headers",
        REQUESTED,
        "status",
        _status(certificate=as_bytes(CERTIFICATE_PEM.replace("E-----\n", "E-----\na: b\n\n", 1))),
    ),
    (
        "signed with an empty block",
        REQUESTED,
        "status",
        _status(certificate=as_bytes("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")),
    ),
    ("changed", REQUESTED, "", _all),
    ("renamed", REQUESTED, "", lambda made: made["metadata"].update(labels={"a b": ""})),
    ("webhooks", HOOKS, "", lambda made: made.update(webhooks=[{}])),
    ("fewer webhooks", HOOKS, "", lambda made: made.update(webhooks=None)),
    ("labels of webhooks", HOOKS, "", lambda made: made["metadata"].update(labels={"a b": ""})),
    ("policy", POLICY, "", lambda made: made["spec"].update(validations=[])),
    ("binding", BINDING, "", lambda made: made["spec"].update(policyName="A_", paramRef={})),
    ("flow schema", SCHEMA, "", lambda made: made["spec"].update(matchingPrecedence=1, rules=[{}])),
    ("level", LEVEL, "", lambda made: made["spec"].update(type="Exempt")),
    ("level of other queues", LEVEL, "", lambda made: made["spec"].pop("limited")),
    ("API service", SERVICE, "", lambda made: made["spec"].update(group="x", versionPriority=0)),
    ("API service elsewhere", SERVICE, "", lambda made: made["spec"].update(service={})),
    ("policy told of nothing", POLICY, "status", _warnings({}, {"fieldRef": " ", "warning": "x"})),
    ("policy told", POLICY, "status", _warnings({"fieldRef": "spec.x", "warning": "x"})),
    ("conditions of a policy", POLICY, "status", _conditions(CONDITION, CONDITION)),
    ("conditions of a flow schema", SCHEMA, "status", _conditions(CONDITION, CONDITION, {})),
    ("conditions of a level", LEVEL, "status", _conditions({}, {})),
    ("conditions of an API service", SERVICE, "status", _conditions(CONDITION)),
]


@pytest.mark.parametrize("update", UPDATES, ids=lambda update: update[0])
def test_a_change_ends_as_on_the_real_server(
    kube: KubeServer, namespace: str, update: tuple[str, Case, str, Change]
) -> None:
    _, case, subresource, change = update
    with _stored(kube, namespace, case) as (path, stored):
        _compare(kube, path, stored, change, subresource)


DECIDED: list[tuple[str, str, Change]] = [
    ("decided otherwise", "approval", _conditions(DENIED)),
    ("decided no more", "approval", _conditions()),
    ("decided again", "approval", _conditions(APPROVED | {"reason": "Other"})),
    ("forgotten by the signer", "status", _conditions(FAILED)),
    ("kept by the signer", "status", _conditions(APPROVED | {"reason": "Other"}, FAILED)),
    ("signed again", "status", _status(certificate=as_bytes(CERTIFICATE_PEM * 2))),
    ("signed no more", "status", _status(certificate=None)),
]


@pytest.mark.parametrize("update", DECIDED, ids=lambda update: update[0])
def test_what_was_approved_and_signed_stays_as_on_the_real_server(
    kube: KubeServer, namespace: str, update: tuple[str, str, Change]
) -> None:
    _, subresource, change = update
    with _stored(kube, namespace, REQUESTED) as (path, stored):
        _conditions(APPROVED)(stored)
        approved = _put(kube, path, stored, "approval").body
        _status(certificate=CERTIFICATE)(approved)
        signed = _put(kube, path, approved, "status").body
        _compare(kube, path, signed, change, subresource)


@contextmanager
def _stored(kube: KubeServer, namespace: str, case: Case) -> Iterator[tuple[str, Manifest]]:
    _, path, body = case
    made = kube.request(
        "POST", path, json.loads(json.dumps(body).replace("{namespace}", namespace))
    )
    assert made.code == 201, made.body
    try:
        yield path, made.body
    finally:
        kube.request("DELETE", f"{path}/{made.body['metadata']['name']}")


def _put(kube: KubeServer, path: str, body: Any, subresource: str) -> Any:
    """Write what was changed, whatever controllers wrote in the meantime."""
    place = f"{path}/{body['metadata']['name']}"
    while True:
        answer = kube.request("PUT", "/".join(filter(None, (place, subresource))), body)
        if answer.code != 409:
            return answer
        stored = kube.request("GET", place).body
        body["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"]


def _compare(kube: KubeServer, path: str, stored: Any, change: Change, subresource: str) -> None:
    wanted = copy.deepcopy(stored)
    change(wanted)
    ours = DevServerSide().update(path, stored, wanted, subresource=subresource)
    real = _put(kube, path, wanted, subresource)

    assert ours.code == real.code, real.body
    if real.code == 422:
        assert ours.body["message"] == real.body["message"]
        assert ours.body["details"] == real.body["details"]
    else:
        assert comparable(ours.body) == comparable(real.body)
