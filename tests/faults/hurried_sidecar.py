"""A sidecar in a process of its own, whose time passes as fast as that of the chaos around it.

Owns: the process, which may be killed at any moment.  Must not know who does so.

Its first line on standard input says where the server is and what its variables are; it ends when
it is told to, and when nothing can be read at its start, as the command does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import signal
import sys
from collections.abc import Mapping
from typing import Any

from reflet.sidecar.sidecar import Sidecar
from reflet.sidecar.sidecar_settings import read_settings
from reflet.transport.auth.certificates import Pem
from reflet.transport.auth.credentials import StaticToken
from reflet.transport.config.settings import ConnectionSettings
from tests.faults.hurry import WAITS, HurriedClock, HurriedCluster


async def task_for(settings: ConnectionSettings, variables: Mapping[str, str]) -> bytes:
    """The line for a sidecar at the same server, who is whoever *settings* say."""
    task: dict[str, Any] = {"server": settings.server, "variables": dict(variables)}
    authority = settings.certificate_authority
    if authority is not None:
        headers = await settings.credentials.headers()
        _, _, token = headers["authorization"].partition(" ")
        task |= {"authority": (authority.data or b"").decode(), "token": token}
    return json.dumps(task).encode() + b"\n"


def settings_of(task: Mapping[str, Any]) -> ConnectionSettings:
    """The same settings again."""
    if "token" not in task:
        return ConnectionSettings(server=task["server"], qps=0)
    return ConnectionSettings(
        server=task["server"],
        qps=0,
        credentials=StaticToken(task["token"]),
        certificate_authority=Pem("the authority of the test", data=task["authority"].encode()),
    )


async def run(task: Mapping[str, Any]) -> None:
    """Be a sidecar until the end."""
    working = asyncio.current_task()
    assert working is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, working.cancel)
    settings = read_settings(task["variables"])
    async with HurriedCluster(settings_of(task)) as cluster:
        await Sidecar(settings, cluster, namespace="default", clock=HurriedClock()).run()


def main() -> None:
    """Do the task of standard input."""
    logging.disable(logging.CRITICAL)  # nobody reads thousands of complaints
    for module, name, value in WAITS:
        setattr(module, name, value)
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(run(json.loads(sys.stdin.readline())))


if __name__ == "__main__":
    main()
