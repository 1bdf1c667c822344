"""Everything that a pod's containers get, at one moment."""

from __future__ import annotations

from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.volumes.volume_contents import resolve_volume
from tests.unit.podconfig.scenes import result, web_pod


def test_errors_name_their_container_or_volume() -> None:
    resolved = result(error="no A", volume_error="no x")

    assert resolved.errors == ("container web: no A", "volume files: no x")
    assert result().errors == ()


def test_problems_are_those_of_all_parts() -> None:
    pod, objects = web_pod(), ObjectsInHand()
    environment = resolve_environment(pod, "web", objects)
    contents = resolve_volume(pod, "keys", objects)

    resolved = ResolvedPod(pod=pod, environments={"web": environment}, volumes={"keys": contents})

    assert resolved.problems == (*environment.problems, *contents.problems)
    assert len(resolved.problems) == 2


def test_values_are_not_shown() -> None:
    assert "hunter2" not in repr(result({"A": "hunter2"}, {"x": "hunter2"}))
