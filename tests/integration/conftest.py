"""A development server for each test, in a thread of its own, and a client for it."""

from __future__ import annotations

import pytest

from reflet.testing import pytest_plugin
from reflet.testing.pytest_plugin import RunningServer
from tests.integration import kubectl_runner
from tests.integration.plain_client import Client

reflet_server = pytest_plugin.reflet_server
reflet_server_options = pytest_plugin.reflet_server_options
shared_server = kubectl_runner.shared_server
kubectl = kubectl_runner.kubectl


@pytest.fixture
def server(reflet_server: RunningServer) -> RunningServer:
    return reflet_server


@pytest.fixture
def client(server: RunningServer) -> Client:
    return Client(server.url, server.token)


@pytest.fixture
def config_maps() -> str:
    return "/api/v1/namespaces/default/configmaps"
