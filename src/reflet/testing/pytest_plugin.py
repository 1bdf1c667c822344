"""Fixtures for any project's tests: a Kubernetes API that starts in a moment.

Comes with the package; pytest finds it by its entry point.  ::

    @pytest.mark.reflet_server(load=["app.yaml"])
    def test_it(reflet_server, reflet_kubectl):
        assert reflet_kubectl("get", "pods", "-o", "json").json()["items"]

The server runs in a thread of its own, so that tests with and without an event loop can use it.
Every pytest run imports this module, so it imports nothing of weight itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

import pytest

from reflet.testing.server_options import MARKER, check_marker, marked_options
from reflet.testing.server_thread import RunningServer, running_server

if TYPE_CHECKING:
    from reflet.devserver.storage.storage import StorageSnapshot
    from reflet.testing.kubectl import Kubectl

__all__ = ["RunningServer", "running_server"]  # which are known from here, too

# Options with which a server is never quite still, so that nobody can put it back.
_UNSHARED: Final = frozenset({"play"})


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(load, faults, play, …): options of the server of a test, as of reflet's"
        " DevServer; for functions, classes and modules",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say what is wrong with a marker before any test runs."""
    for item in items:
        check_marker(item)


@pytest.fixture(scope="session")
def reflet_server_options() -> dict[str, Any]:
    """The options of the servers, those of ``DevServer``; override it to change them.

    Plain HTTP by default: it starts faster and needs no extra package.
    """
    return {"tls": False}


@pytest.fixture
def reflet_server(
    reflet_server_options: dict[str, Any], request: pytest.FixtureRequest
) -> Iterator[RunningServer]:
    """A Kubernetes API of the test's own, empty but for the default namespaces.

    The marker ``reflet_server`` says what else is in it and what goes wrong.
    """
    options = {**reflet_server_options, **marked_options(request.node)}
    faults = options.pop("faults", ())
    with running_server(options) as running:
        for fault in faults:
            running.add_fault(fault)
        yield running


@pytest.fixture(scope="session")
def reflet_session_server(reflet_server_options: dict[str, Any]) -> Iterator[RunningServer]:
    """A Kubernetes API that all tests of the run share."""
    with running_server(reflet_server_options) as running:
        yield running


@pytest.fixture
def reflet_server_factory(
    reflet_server_options: dict[str, Any],
) -> Iterator[Callable[..., RunningServer]]:
    """Starts servers, each with options of ``DevServer``; they end with the test."""
    with ExitStack() as servers:

        def start(**options: Any) -> RunningServer:
            return servers.enter_context(running_server({**reflet_server_options, **options}))

        yield start


@pytest.fixture(scope="session")
def _reflet_restorable() -> Iterator[Callable[[dict[str, Any]], RunningServer]]:
    """Servers of the run by their options, and what was in each at its start."""
    with ExitStack() as servers:
        known: dict[str, tuple[RunningServer, StorageSnapshot]] = {}

        def serve(options: dict[str, Any]) -> RunningServer:
            key = repr(sorted(options.items()))
            if key not in known:
                running = servers.enter_context(running_server(options))
                known[key] = running, running.snapshot()
                return running
            running, beginning = known[key]
            return running.started_over(beginning)

        yield serve


@pytest.fixture
def reflet_restored_server(
    reflet_server_options: dict[str, Any],
    _reflet_restorable: Callable[[dict[str, Any]], RunningServer],
    request: pytest.FixtureRequest,
) -> Iterator[RunningServer]:
    """A Kubernetes API as new, which costs what the tests before have changed.

    Tests with the same options share a server: the objects that it began with are put back, and
    it goes on at another port with another token.  For what takes long to load.
    """
    options = {**reflet_server_options, **marked_options(request.node)}
    faults = options.pop("faults", ())
    with ExitStack() as own:
        if _UNSHARED & options.keys():
            running = own.enter_context(running_server(options))
        else:
            running = _reflet_restorable(options)
            own.callback(running.disconnect)
        for fault in faults:
            running.add_fault(fault)
        yield running


@pytest.fixture
def reflet_kubectl(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Kubectl:
    """The kubectl of this machine, for the server of the test; skips where there is none.

    ``reflet_kubectl("get", "pods", "-o", "json").json()``; what fails raises ``KubectlFailed``.
    """
    import shutil  # noqa: PLC0415 - see the head of the module

    from reflet.testing.kubectl import PROGRAM, Kubectl  # noqa: PLC0415 - the same

    if shutil.which(PROGRAM) is None:
        pytest.skip(f"{PROGRAM} is not on PATH, and reflet_kubectl runs it")
    others = ("reflet_restored_server", "reflet_session_server")
    name = next((each for each in others if each in request.fixturenames), "reflet_server")
    server: RunningServer = request.getfixturevalue(name)
    return Kubectl(server.kubeconfig, tmp_path_factory.mktemp("kubectl"))
