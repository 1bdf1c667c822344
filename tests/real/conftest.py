"""Fixtures for tests against a real API server: one server for the run, a namespace a test.

Owns: when the server starts, and what happens when its binaries are missing.  Must not know
how a server is run; that is kube_server.py.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflet.cluster import Cluster, settings_from
from reflet.transport.config.kubeconfig import Overrides
from tests.real.binaries import BinariesMissing, find_binaries
from tests.real.kube_server import KubeServer


@functools.cache
def missing_binaries() -> str:
    """Say what is missing and how to get it; empty when the binaries are there."""
    try:
        find_binaries()
    except BinariesMissing as error:
        return str(error)
    return ""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Skip the tests in this folder without binaries, all from this line: one in the summary."""
    reason = missing_binaries()
    if not reason:
        return
    # CI builds them, and who sets KUBEBUILDER_ASSETS means it: a skip would hide a mistake.
    if os.environ.get("CI") == "true" or os.environ.get("KUBEBUILDER_ASSETS"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def kube() -> Iterator[KubeServer]:
    """The server: started by the first test that asks for it, shared by all."""
    with KubeServer() as server:
        yield server


@pytest.fixture
def namespace(kube: KubeServer) -> str:
    """Name a fresh namespace.

    It is left behind: emptying it takes longer than the whole server, which goes away in the
    end.  So a list across namespaces may show what other tests made.
    """
    name = f"test-{secrets.token_hex(4)}"
    with kube.connect() as connection:
        connection.create("/api/v1/namespaces", {"metadata": {"name": name}})
    return name


@pytest.fixture
def kubeconfig(kube: KubeServer, namespace: str, tmp_path: Path) -> Path:
    path = tmp_path / "config"
    kube.write_kubeconfig(path, namespace=namespace)
    return path


@pytest.fixture
def cluster(kubeconfig: Path) -> Cluster:
    """A client that asks as fast as it can: its own limit has tests of its own."""
    settings = settings_from(Overrides(kubeconfig=str(kubeconfig)))
    return Cluster(dataclasses.replace(settings, qps=0))
