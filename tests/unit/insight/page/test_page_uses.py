"""What the containers of many pods have: the answers of ``staleness``, asked once for many."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.errors import Forbidden
from reflet.insight.page import page_uses
from reflet.insight.page.brief_objects import BriefPods
from reflet.insight.page.page_uses import UsesOfPods
from reflet.insight.stale.held_values import HeldState
from reflet.insight.stale.object_history import FieldWrite, KeyChange, ObjectHistory
from reflet.insight.stale.staleness import Staleness
from tests.page_scenes import BEFORE, NOON, NOW, OF_WEB, WHOLE, pod

SETTINGS = ("ConfigMap", "shop", "settings")
EDITED = NOON + timedelta(hours=1)


def history(*changes: datetime, **more: Any) -> ObjectHistory:
    given: dict[str, Any] = {
        "keys": ("a",),
        "created": BEFORE,
        "since": BEFORE,
        "writes": (FieldWrite(manager="create", at=BEFORE, keys=("a",)),),
        "changes": tuple(
            KeyChange(at=at, since=at, key="a", before="1", after="2") for at in changes
        ),
    }
    return ObjectHistory(kind="ConfigMap", namespace="shop", name="settings", **(given | more))


def uses_of(histories: Mapping[Any, Any]) -> UsesOfPods:
    return UsesOfPods(histories, now=NOW)


def states(histories: Mapping[Any, Any], item: Pod) -> dict[str, HeldState]:
    return {use.name: use.state for use in uses_of(histories).of(item)}


def test_a_running_container_is_judged_by_its_start() -> None:
    known = {SETTINGS: history(EDITED)}

    assert states(known, pod(WHOLE)) == {"a": HeldState.NEEDS_RESTART}
    assert states(known, pod(WHOLE, started=EDITED + timedelta(minutes=9))) == {
        "a": HeldState.CURRENT
    }


def test_a_container_that_does_not_run_will_get_what_is_there() -> None:
    [use] = uses_of({SETTINGS: history(NOW)}).of(pod(WHOLE, waiting="ImagePullBackOff"))

    assert (use.state, use.is_running) == (HeldState.CURRENT, False)


def test_a_container_that_waits_for_what_is_missing_is_told_so() -> None:
    assert states({}, pod(WHOLE, waiting="CreateContainerConfigError")) == {"*": HeldState.MISSING}


def test_a_pull_secret_belongs_to_the_pod() -> None:
    item = pod(spec={"imagePullSecrets": [{"name": "registry"}]})

    [use] = uses_of({}).of(item)

    assert (use.way, use.container, use.state) == ("pullSecret", "", HeldState.MISSING)


def test_what_may_not_be_read_is_not_known() -> None:
    refused = {SETTINGS: Forbidden("no"), ("Secret", "shop", "registry"): Forbidden("no")}
    item = pod(WHOLE, spec={"imagePullSecrets": [{"name": "registry"}]})

    assert set(states(refused, item).values()) == {HeldState.UNKNOWN}


def many(starts: list[datetime]) -> list[Pod]:
    brief = BriefPods()
    return [
        brief(pod(WHOLE, f"web-7c9f-{number}", started=at, metadata=OF_WEB))
        for number, at in enumerate(starts)
    ]


def test_pods_with_one_spec_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()

    class Counting(Staleness):  # type: ignore[misc]  # final, for all but those who count
        def of(self, pod: Pod) -> Any:
            asked.add(pod.metadata.name)
            return super().of(pod)

    monkeypatch.setattr(page_uses, "Staleness", Counting)
    look = uses_of({SETTINGS: history(EDITED)})

    for item in many([NOON + timedelta(seconds=number) for number in range(500)]):
        look.of(item)

    assert len(asked) == 1


def test_judging_once_gives_the_same_as_judging_each() -> None:
    known = {SETTINGS: history(EDITED, EDITED + timedelta(minutes=30))}
    starts = [EDITED + timedelta(seconds=17 * number) for number in range(-60, 160)]
    together = uses_of(known)

    for item in many(starts):
        assert together.of(item) == uses_of(known).of(item)
