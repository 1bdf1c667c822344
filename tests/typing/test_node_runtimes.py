"""Which runtimes fit what the agent asks of one; the functions are for the type checker."""

from __future__ import annotations

import inspect

import pytest

from reflet.node.container_runtime import ContainerLauncher, ContainerLife, ContainerRuntime
from reflet.node.cri.cri_container_runtime import CriContainerRuntime, CriLife
from reflet.node.cri.cri_launch import CriLauncher
from reflet.node.process_launch import ProcessLauncher
from reflet.node.process_runtime import ProcessRuntime
from reflet.node.shim.container_records import ContainerRecord


def processes_are_a_runtime(runtime: ProcessRuntime) -> ContainerRuntime:
    return runtime


def processes_are_launched(launcher: ProcessLauncher) -> ContainerLauncher:
    return launcher


def containers_are_a_runtime(runtime: CriContainerRuntime) -> ContainerRuntime:
    return runtime


def containers_are_launched(launcher: CriLauncher) -> ContainerLauncher:
    return launcher


def a_life_is_a_life(life: CriLife) -> ContainerLife:
    return life


def a_record_is_a_life(record: ContainerRecord) -> ContainerLife:
    return record


@pytest.mark.parametrize("runtime", [ProcessRuntime, CriContainerRuntime])
def test_a_runtime_has_everything_that_the_agent_asks_for(runtime: type) -> None:
    asked = {
        name
        for name in dir(ContainerRuntime)
        if not name.startswith("_") and not inspect.isclass(name)
    }

    assert asked - {"scheme"} <= set(dir(runtime))
