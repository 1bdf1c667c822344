"""Objects selected by labels and fields."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.request.selection import selection
from reflet.errors import BadRequest


def kind(group: str, plural: str) -> ServedKind:
    found = Kinds().by_resource(group, "v1", plural)
    assert found is not None
    return found


def matches(served: ServedKind, fields: str, obj: dict[str, Any]) -> bool:
    chosen = selection(served, "", fields)
    assert chosen.matches is not None
    return chosen.matches({"metadata": {"name": "x", "namespace": "n"}, **obj})


def test_no_selector_selects_everything() -> None:
    assert selection(kind("", "pods"), "", "").selects_everything


def test_one_name_is_known_to_be_one() -> None:
    chosen = selection(kind("", "pods"), "", "metadata.name=a,metadata.namespace=b")

    assert (chosen.name, chosen.namespace) == ("a", "b")


@pytest.mark.parametrize(
    ("group", "plural", "fields", "content"),
    [
        ("", "pods", "spec.nodeName=n,status.phase!=Failed", {"spec": {"nodeName": "n"}}),
        ("", "pods", "spec.hostNetwork=false", {"spec": {}}),
        ("", "pods", "status.podIPs=1.1.1.1", {"status": {"podIPs": [{"ip": "1.1.1.1"}]}}),
        ("", "secrets", "type=Opaque", {"type": "Opaque"}),
        ("", "services", "spec.clusterIP=None", {"spec": {"clusterIP": "None"}}),
        ("", "nodes", "spec.unschedulable=true", {"spec": {"unschedulable": True}}),
        ("", "namespaces", "status.phase=Active", {"status": {"phase": "Active"}}),
        ("", "events", "involvedObject.kind=Pod", {"involvedObject": {"kind": "Pod"}}),
        ("", "events", "source=kubelet", {"source": {"component": "kubelet"}}),
        ("events.k8s.io", "events", "regarding.name=p", {"involvedObject": {"name": "p"}}),
        ("batch", "jobs", "status.successful=2", {"status": {"succeeded": 2}}),
    ],
)
def test_kinds_are_selected_by_their_own_fields(
    group: str, plural: str, fields: str, content: dict[str, Any]
) -> None:
    assert matches(kind(group, plural), fields, content)


@pytest.mark.parametrize(
    ("group", "plural", "said"),
    [
        ("", "pods", "field label not supported: spec.foo"),
        ("batch", "jobs", 'field label "spec.foo" not supported for Job'),
        (
            "apps",
            "deployments",
            '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
    ],
)
def test_other_fields_are_refused(group: str, plural: str, said: str) -> None:
    with pytest.raises(BadRequest) as refused:
        selection(kind(group, plural), "", "spec.foo=b")

    assert refused.value.message == said
