"""One stored object in the versions in which it is served."""

from __future__ import annotations

from typing import Any

from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.verbs.conversion import in_storage_version, in_version, is_storage_version

EVENT: dict[str, Any] = {
    "kind": "Event",
    "apiVersion": "v1",
    "metadata": {"name": "e"},
    "involvedObject": {"kind": "Pod"},
    "reason": "Pulled",
    "message": "done",
    "source": {"component": "kubelet"},
    "firstTimestamp": None,
    "lastTimestamp": None,
    "count": 2,
    "eventTime": None,
    "reportingComponent": "kubelet",
    "reportingInstance": "n",
}


def new_events() -> ServedKind:
    kind = Kinds().by_resource("events.k8s.io", "v1", "events")
    assert kind is not None
    return kind


def test_an_event_has_new_names_in_its_new_group() -> None:
    event = in_version(new_events(), EVENT)

    assert (event["apiVersion"], event["note"]) == ("events.k8s.io/v1", "done")
    assert (event["regarding"], event["deprecatedCount"]) == ({"kind": "Pod"}, 2)
    assert event["reportingController"] == "kubelet"


def test_an_event_is_kept_as_it_was() -> None:
    assert in_storage_version(new_events(), in_version(new_events(), EVENT)) == EVENT


def test_most_kinds_are_kept_as_they_come() -> None:
    kind = Kinds().by_resource("", "v1", "configmaps")

    assert kind is not None
    assert is_storage_version(kind)
    assert not is_storage_version(new_events())
