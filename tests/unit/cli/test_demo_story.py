"""The parts of the demonstration's story that need no server."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reflet.api import codec
from reflet.api.core.pods import Pod
from reflet.cli.demo_story import OBJECTS, SETTLED, _shown, _state
from reflet.manifests.applying import read_applied


def pod(status: Mapping[str, object]) -> Pod:
    document = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "shop"},
        "spec": {"containers": []},
        "status": status,
    }
    return codec.decode(codec.encode(document), Pod)


def test_the_objects_are_accepted_and_the_story_is_about_their_pods() -> None:
    applied = read_applied([str(OBJECTS)])

    assert applied.refusals == ()
    assert {each.metadata.name for each in applied.pods()} == set(SETTLED)


def test_the_state_of_a_pod_is_why_it_waits() -> None:
    waiting = {"reason": "CreateContainerConfigError", "message": "no key"}
    status = {"phase": "Pending", "containerStatuses": [_container({"waiting": waiting})]}

    assert _state(pod(status)) == ("CreateContainerConfigError", "no key")


@pytest.mark.parametrize("phase", ["Running", "Succeeded"])
def test_the_state_of_a_pod_that_waits_for_nothing_is_its_phase(phase: str) -> None:
    assert _state(pod({"phase": phase})) == (phase, "")


@pytest.mark.parametrize(("seconds", "text"), [(0.0071, "7 ms"), (0.9, "900 ms"), (2.24, "2.2 s")])
def test_delays_are_told_as_people_say_them(seconds: float, text: str) -> None:
    assert _shown(seconds) == text


def _container(state: dict[str, object]) -> dict[str, object]:
    return {
        "name": "web",
        "image": "i",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": state,
    }
