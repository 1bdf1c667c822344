"""Every key that a running container uses is found, as a variable and as a file, and judged."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reflet.api import codec
from reflet.api.core.pods import Pod
from reflet.errors import Forbidden
from reflet.insight.stale.held_values import Certainty, HeldState, HeldValue
from reflet.insight.stale.object_history import FieldWrite, KeyChange, ObjectHistory
from reflet.insight.stale.staleness import KeyUse, staleness_of
from reflet.insight.stale.used_keys import Histories
from reflet.resolution.objects import ConfigKind

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOW = NOON + timedelta(hours=3)
BEFORE, AFTER = NOON - timedelta(hours=1), NOON + timedelta(hours=1)
RUNNING = {"running": {"startedAt": NOON.isoformat()}}


def history(
    name: str = "settings",
    *,
    old: tuple[str, ...] = (),
    new: tuple[str, ...] = (),
    kind: ConfigKind = "ConfigMap",
    **more: Any,
) -> ObjectHistory:
    """An object with keys that were written before the container started, and after."""
    writes = (
        FieldWrite(manager="create", at=BEFORE, keys=old),
        FieldWrite(manager="edit", at=AFTER, keys=new),
    )
    given = {"created": BEFORE, "keys": (*old, *new), "writes": writes, **more}
    return ObjectHistory(kind=kind, namespace="shop", name=name, **given)


def pod(
    container: dict[str, Any] | None = None,
    *,
    volumes: tuple[dict[str, Any], ...] = (),
    status: dict[str, Any] | None = None,
    deleted: bool = False,
    init: dict[str, Any] | None = None,
) -> Pod:
    metadata = {"name": "web-1", "namespace": "shop", "creationTimestamp": BEFORE.isoformat()}
    if deleted:
        metadata["deletionTimestamp"] = NOW.isoformat()
    running = {"phase": "Running", "containerStatuses": [{"name": "web", "state": RUNNING}]}
    raw = {
        "metadata": metadata,
        "spec": {
            "enableServiceLinks": False,
            "initContainers": [] if init is None else [{"name": "init", **init}],
            "containers": [{"name": "web", **(container or {})}],
            "volumes": volumes,
        },
        "status": running if status is None else status,
    }
    return codec.decode(json.dumps(raw).encode(), Pod)


def uses(item: Pod, *histories: ObjectHistory, more: Histories | None = None) -> list[KeyUse]:
    known = {(each.kind, each.namespace, each.name): each for each in histories}
    return list(staleness_of(item, {**known, **(more or {})}, now=NOW))


def found(item: Pod, *histories: ObjectHistory) -> dict[str, str]:
    return {each.name: each.verdict for each in uses(item, *histories)}


def from_key(variable: str, key: str, *, optional: bool = False) -> dict[str, Any]:
    reference = {"name": "settings", "key": key, "optional": optional}
    return {"name": variable, "valueFrom": {"configMapKeyRef": reference}}


def volume(**more: Any) -> dict[str, Any]:
    return {"name": "v", "configMap": {"name": "settings", "defaultMode": 0o644, **more}}


def mounted(**more: Any) -> dict[str, Any]:
    return {"volumeMounts": [{"name": "v", "mountPath": "/etc/web", **more}]}


WHOLE = {"envFrom": [{"configMapRef": {"name": "settings"}}]}
OPTIONAL = {"envFrom": [{"configMapRef": {"name": "settings", "optional": True}}]}


def test_variables_are_judged_key_by_key() -> None:
    item = pod({"env": [from_key("A", "a"), from_key("B", "b")]})

    assert found(item, history(old=("a",), new=("b",))) == {"A": "is current", "B": "may be stale"}


def test_every_key_of_a_whole_object_is_a_variable() -> None:
    given = {"envFrom": [{"prefix": "P_", "configMapRef": {"name": "settings"}}]}

    assert found(pod(given), history(old=("a",), new=("b",))) == {
        "P_a": "is current",
        "P_b": "may be stale",
    }


def test_a_variable_that_is_shadowed_is_no_use() -> None:
    item = pod({**WHOLE, "env": [{"name": "b", "value": "own"}]})

    assert found(item, history(new=("b",))) == {}


def test_a_value_that_is_expanded_with_another_is_as_old_as_that() -> None:
    env = [
        from_key("B", "b"),
        {"name": "MID", "value": "<$(B)>"},
        {"name": "URL", "value": "$(MID)"},
    ]

    assert found(pod({"env": env}), history(new=("b",))) == dict.fromkeys(
        ("B", "MID", "URL"), "may be stale"
    )


def test_files_follow_and_sub_paths_do_not() -> None:
    mounts = [
        {"name": "v", "mountPath": "/etc/web"},
        {"name": "v", "mountPath": "/b", "subPath": "b"},
    ]

    item = pod({"volumeMounts": mounts}, volumes=(volume(),))

    assert found(item, history(new=("b",))) == {"/etc/web/b": "is current", "/b": "may be stale"}


def test_secrets_count_as_config_maps_do() -> None:
    given = {"name": "P", "valueFrom": {"secretKeyRef": {"name": "database", "key": "p"}}}

    (use,) = uses(pod({"env": [given]}), history("database", new=("p",), kind="Secret"))

    assert (use.kind, use.object, use.key, use.state) == (
        "Secret",
        "database",
        "p",
        HeldState.NEEDS_RESTART,
    )


def test_a_key_that_is_gone_is_still_held() -> None:
    (use,) = uses(pod({"env": [from_key("A", "a")]}), history(old=("b",)))

    assert (use.verdict, use.judgement.reason) == (
        "source is gone",
        "ConfigMap settings has no key a any more",
    )


@pytest.mark.parametrize("container", [{"env": [from_key("A", "a")]}, WHOLE, mounted()])
def test_so_is_everything_of_an_object_that_is_gone(container: dict[str, Any]) -> None:
    (use,) = uses(pod(container, volumes=(volume(),)))

    assert (use.state, use.judgement.reason) == (
        HeldState.MISSING,
        "ConfigMap settings does not exist any more",
    )


def test_what_is_optional_may_never_have_been_there() -> None:
    item = pod({"env": [from_key("A", "a", optional=True)], **OPTIONAL})

    assert found(item) == {"A": "is not known", "*": "is not known"}


def test_an_optional_variable_that_something_else_sets_is_no_question() -> None:
    env = [{"name": "A", "value": "own"}, from_key("A", "a", optional=True)]

    assert found(pod({"env": env})) == {}


def test_optional_files_go_away_by_themselves() -> None:
    assert found(pod(mounted(), volumes=(volume(optional=True),))) == {}


def test_an_object_that_may_not_be_read_is_not_known() -> None:
    refused = Forbidden("secrets is forbidden", code=403, reason="Forbidden")
    env = [from_key("A", "a")]

    (use,) = uses(pod({"env": env}), more={("ConfigMap", "shop", "settings"): refused})

    assert (use.state, use.key) == (HeldState.UNKNOWN, "a")
    assert use.judgement.reason == "could not be read: secrets is forbidden"


def test_a_key_that_a_watch_saw_leave_an_object_that_is_used_whole_is_found() -> None:
    gone = KeyChange(at=AFTER, since=AFTER, key="a", before="1", after=None)

    (use,) = uses(pod(WHOLE), history(since=BEFORE, changes=(gone,)))

    assert (use.key, use.verdict, use.certainty) == ("a", "is stale", Certainty.OBSERVED)


def test_a_deletion_that_a_watch_saw_is_observed() -> None:
    gone = KeyChange(at=AFTER, since=AFTER, key="a", before="1", after=None)

    (use,) = uses(pod(WHOLE), history(exists=False, changes=(gone,)))

    assert (use.state, use.certainty) == (HeldState.MISSING, Certainty.OBSERVED)


def test_a_file_beside_a_key_that_is_missing_does_not_follow() -> None:
    items = [{"key": "a", "path": "a"}, {"key": "b", "path": "b"}]
    item = pod(mounted(), volumes=(volume(items=items),))

    assert found(item, history(new=("b",))) == {
        "/etc/web/b": "is not known",
        "/etc/web": "source is gone",
    }


@pytest.mark.parametrize(
    "status",
    [
        {"phase": "Pending"},
        {"phase": "Succeeded", "containerStatuses": [{"name": "web", "state": RUNNING}]},
        {"phase": "Running", "containerStatuses": [{"name": "web", "state": {"waiting": {}}}]},
        {"phase": "Running", "containerStatuses": [{"name": "web", "state": {"terminated": {}}}]},
    ],
)
def test_a_container_that_does_not_run_holds_nothing(status: dict[str, Any]) -> None:
    assert uses(pod(WHOLE, status=status), history(new=("b",))) == []


def test_a_pod_that_is_being_deleted_is_left_alone() -> None:
    assert uses(pod(WHOLE, deleted=True), history(new=("b",))) == []


def test_an_init_container_that_is_done_holds_nothing_and_a_sidecar_does() -> None:
    done = {"name": "init", "state": {"terminated": {}}}
    status = {"phase": "Running", "initContainerStatuses": [done]}
    assert uses(pod(status=status, init=WHOLE), history(new=("b",))) == []

    status["initContainerStatuses"] = [{"name": "init", "state": RUNNING}]
    (use,) = uses(pod(status=status, init=WHOLE), history(new=("b",)))
    assert use.container == "init"


def test_a_container_that_was_started_again_counts_from_then() -> None:
    later = {"running": {"startedAt": (AFTER + timedelta(minutes=1)).isoformat()}}
    container = {"name": "web", "state": later, "restartCount": 1}
    status = {"phase": "Running", "containerStatuses": [container]}

    assert found(pod(WHOLE, status=status), history(new=("b",))) == {"b": "is current"}


def test_no_more_is_claimed_than_is_known() -> None:
    def verdict(state: HeldState, certainty: Certainty = Certainty.INFERRED) -> str:
        (use,) = uses(pod({"env": [from_key("A", "a")]}), history(old=("a",)))
        judgement = HeldValue(state=state, certainty=certainty)
        return KeyUse(
            container=use.container,
            arrival=use.arrival,
            name=use.name,
            kind=use.kind,
            object=use.object,
            key=use.key,
            judgement=judgement,
        ).verdict

    assert verdict(HeldState.NEEDS_RESTART) == "may be stale"
    assert verdict(HeldState.NEEDS_RESTART, Certainty.OBSERVED) == "is stale"
    assert verdict(HeldState.ON_ITS_WAY) == "follows by itself"
