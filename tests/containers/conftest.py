"""One containerd for the run, a registry for a test, and one line when there can be none."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

import pytest

from tests.containers.containerd import Containerd
from tests.containers.node_scenes import ContainerNode, new_namespace, pod
from tests.containers.programs import MachineUnable, ProgramsMissing, find_programs
from tests.containers.registry import Registry
from tests.real.conftest import missing_binaries
from tests.real.kube_server import KubeServer


@functools.cache
def _missing() -> tuple[str, bool]:
    """Say what is missing, and whether ``make containers`` would bring it."""
    try:
        find_programs()
    except ProgramsMissing as error:
        return str(error), True
    except MachineUnable as error:
        return str(error), False
    return "", False


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Skip the tests in this folder without containers, all from this line: one in the summary."""
    reason, could_be_there = _missing()
    if not reason:
        return
    # CI brings the programs: a skip would hide a mistake.  What a machine is not allowed to do, it
    # is not allowed to do.
    if could_be_there and os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def containerd() -> Iterator[Containerd]:
    """The runtime: started by the first test that asks for it, shared by all.

    A test leaves it running and without containers; one that makes it fail starts its own.
    """
    with Containerd() as runtime:
        yield runtime


@pytest.fixture
def registry(containerd: Containerd) -> Iterator[Registry]:
    """A registry that the shared runtime pulls from."""
    with Registry() as registry:
        containerd.trust(registry)
        yield registry


@pytest.fixture(scope="session")
def kube() -> Iterator[KubeServer]:
    """An API server, shared by all: nodes and namespaces have names of their own."""
    if missing := missing_binaries():
        pytest.skip(missing)
    with KubeServer() as server:
        yield server


@pytest.fixture(scope="module")
def node(kube: KubeServer, containerd: Containerd) -> Iterator[ContainerNode]:
    """Our node, and kubectl; a test leaves it without pods."""
    with ContainerNode(kube, containerd, new_namespace(kube)) as scene:
        yield scene
        scene.running(pod("last"))
        scene.stop()
        # Told to stop, the agent ends what runs of its pods.
        assert containerd.processes() == [], scene.log()
        scene.start()
        scene.delete("last")
