"""What of Reflet works on this machine, look by look; each has one line, and what to do.

What is missing is a limit, not a fault: nobody needs everything.  A fault is what somebody has set
up and does not work: a kubeconfig that cannot be read, a server that does not answer.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal

from reflet.cli import lazy
from reflet.errors import (
    ConfigurationError,
    CredentialsError,
    Forbidden,
    RefletError,
    Unauthorized,
)
from reflet.runtime.platforms import HERE

if TYPE_CHECKING:
    from reflet.client.discovery import ServerVersion
    from reflet.transport.config.settings import ConnectionSettings

ANSWER_TIMEOUT: Final = 5.0
"""Seconds for a server to answer, where no flag says another time."""

State = Literal["ok", "limited", "broken"]


@dataclass(frozen=True, slots=True)
class MachineCheck:
    """What was looked at, how it is, and what to do about it."""

    name: str
    state: State
    detail: str
    fix: str = ""


def machine_checks(connection: Callable[[], ConnectionSettings]) -> Iterator[MachineCheck]:
    """Look at everything, the quick things first.  Nothing is changed, and no value shown."""
    yield _platform()
    yield MachineCheck("python", "ok", f"{platform.python_version()}, {sys.executable}")
    yield _server(connection)
    if HERE.processes:
        yield _memory()
        yield _isolation()
    yield _package("tls", "cryptography", "serve, demo and tests have TLS", "devserver")
    yield _package("patterns", "re2", "patterns match as Go matches them", "cel")
    yield _program("kubectl", "with kubectl-reflet in PATH, kubectl reflet works too")
    yield _one_of(("kustomize", "kubectl"), "kustomize", "-k reads kustomizations")
    yield _program("helm", "--helm reads charts")


def _platform() -> MachineCheck:
    if HERE.namespaces:
        return MachineCheck("platform", "ok", f"{HERE.name}: everything")
    if HERE.processes:
        detail = f"{HERE.name}: everything but run --isolate and node --run with isolation"
        return MachineCheck("platform", "limited", detail, "isolation takes Linux")
    detail = f"{HERE.name}: the library, and commands that read files or ask a server"
    return MachineCheck("platform", "limited", detail, "run, node, serve, ui take Linux or macOS")


def _server(connection: Callable[[], ConnectionSettings]) -> MachineCheck:
    try:
        settings = connection()
    except ConfigurationError as error:
        if isinstance(error, lazy.kubeconfig.NotConfigured):
            fix = "name one with --kubeconfig or KUBECONFIG; -f and reflet serve work without"
            return MachineCheck("server", "limited", str(error), fix)
        return MachineCheck("server", "broken", str(error), "correct the kubeconfig")
    limited = dataclasses.replace(
        settings, request_timeout=settings.request_timeout or ANSWER_TIMEOUT
    )
    try:
        found = lazy.event_loop.run(_asked(limited))
    except RefletError as error:
        return MachineCheck("server", "broken", _named(settings, error), _server_fix(error))
    return MachineCheck("server", "ok", f"{settings.server} is Kubernetes {found.git_version}")


def _named(settings: ConnectionSettings, error: RefletError) -> str:
    words = str(error)
    return words if settings.server in words else f"{settings.server}: {words}"


async def _asked(settings: ConnectionSettings) -> ServerVersion:
    async with lazy.cluster.Cluster(settings) as cluster:
        return await cluster.version()


def _server_fix(error: RefletError) -> str:
    match error:
        case Unauthorized() | CredentialsError():
            return "log in again, or check the user of the context"
        case Forbidden():
            return "ask for the rights that reflet rbac prints"
        case ConfigurationError():
            return "correct the kubeconfig"
        case _:
            return "start the server, or choose another --context"


def _memory() -> MachineCheck:
    made = lazy.mounts.memory_backed_root()
    if isinstance(made, lazy.mounts.NoMemoryFolder):
        detail = f"files of Secrets are on disk while they are used: {made.reason}"
        return MachineCheck("memory", "limited", detail, "--root DIR names another place")
    made.rmdir()
    return MachineCheck("memory", "ok", f"files of Secrets are in memory, in {made.parent}")


def _isolation() -> MachineCheck:
    why_not = (
        lazy.isolation_check.why_not_isolated() if HERE.namespaces else f"{HERE.name} has none"
    )
    if why_not is None:
        detail = "containers of node --run can have namespaces of their own"
        return MachineCheck("isolation", "ok", detail)
    detail = f"containers cannot have namespaces of their own: {why_not}"
    return MachineCheck("isolation", "limited", detail, "node --run --no-isolation")


def _package(name: str, module: str, gives: str, extra: str) -> MachineCheck:
    if find_spec(module) is not None:
        return MachineCheck(name, "ok", gives)
    detail = f"{module} is not installed"
    return MachineCheck(name, "limited", detail, f"install reflet[{extra}]: {gives}")


def _program(name: str, gives: str) -> MachineCheck:
    return _one_of((name,), name, gives)


def _one_of(names: tuple[str, ...], title: str, gives: str) -> MachineCheck:
    path = next(filter(None, map(shutil.which, names)), None)
    if path is not None:
        return MachineCheck(title, "ok", f"{os.path.normpath(path)}; {gives}")
    detail = f"{' or '.join(names)} is not in PATH"
    return MachineCheck(title, "limited", detail, f"install it: {gives}")
