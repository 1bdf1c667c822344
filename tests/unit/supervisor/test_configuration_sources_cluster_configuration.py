"""What is asked for on behalf of one container is what that container needs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.resolution.references.references import config_map_names, secret_names
from reflet.resolution.volumes.file_contents import common_user
from reflet.runtime.permanent_tasks import NO_THREAD, TaskEnded
from reflet.supervisor.configuration_sources import ClusterConfiguration, needed_by
from tests.unit.supervisor.scenes import config_map, pod, resolved

SETTINGS = {"name": "settings", "configMap": {"name": "settings"}}
OTHER = {"name": "other", "secret": {"secretName": "other"}}
SUBJECT = pod(
    {
        "envFrom": [{"configMapRef": {"name": "variables"}}],
        "volumeMounts": [{"name": "settings", "mountPath": "/a"}],
        "securityContext": {"runAsUser": 7},
    },
    [SETTINGS, OTHER],
    imagePullSecrets=[{"name": "registry"}],
    initContainers=[
        {
            "name": "prepare",
            "envFrom": [{"secretRef": {"name": "secrets"}}],
            "volumeMounts": [{"name": "other", "mountPath": "/b"}],
            "securityContext": {"runAsUser": 8},
        }
    ],
)


def test_objects_of_other_containers_and_of_image_pulls_are_not_read() -> None:
    needed = needed_by(SUBJECT, "main")

    assert sorted(config_map_names(needed)) == ["settings", "variables"]
    assert sorted(secret_names(needed)) == []


def test_another_container_needs_other_objects() -> None:
    needed = needed_by(SUBJECT, "prepare")

    assert sorted(config_map_names(needed)) == []
    assert sorted(secret_names(needed)) == ["other", "secrets"]


def test_who_files_belong_to_is_decided_by_all_containers() -> None:
    assert common_user(needed_by(SUBJECT, "main")) == common_user(SUBJECT) is None


def test_an_account_that_is_not_named_is_the_default_one() -> None:
    assert needed_by(SUBJECT, "main").spec.service_account_name == "default"


# Following


class FailingConfiguration:
    """Fails as it is told, and then has one result."""

    pod = SUBJECT

    def __init__(self, *failures: Exception) -> None:
        self._failures = list(failures)

    async def changes(self, *, debounce: float) -> AsyncGenerator[ResolvedPod, None]:
        assert debounce == 0
        if self._failures:
            raise self._failures.pop(0)
        found = resolved(pod(), config_map("settings"))
        yield ResolvedPod(
            pod=found.pod, environments={"main": found.environment}, volumes=found.volumes
        )
        await asyncio.Event().wait()


class QuietMirror:
    """Nothing changes."""

    async def changes(self) -> AsyncGenerator[Any, None]:
        await asyncio.Event().wait()
        yield


def followed(*failures: Exception) -> Any:
    configuration: Any = FailingConfiguration(*failures)
    mirror: Any = QuietMirror()
    source = ClusterConfiguration("main", configuration, mirror, lambda pod: pod)
    generator: Any = source.configurations()
    return aclosing(generator)


@pytest.mark.virtual_time
async def test_a_machine_without_threads_keeps_nobody_waiting_for_ever() -> None:
    async with followed(RuntimeError(NO_THREAD)) as configurations:
        async with asyncio.timeout(60):
            found = await anext(configurations)

    assert found.container_name == "main"


@pytest.mark.virtual_time
async def test_a_mistake_of_ours_keeps_nobody_waiting_for_ever() -> None:
    async with followed(ZeroDivisionError()) as configurations:
        with pytest.raises(TaskEnded, match="'objects' has ended for good: ZeroDivisionError"):
            async with asyncio.timeout(60):
                await anext(configurations)
