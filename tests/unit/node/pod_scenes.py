"""Pods and what a runtime sees of them, for tests of the node agent's decisions.

Owns: short ways to write both down.  Must not know what is decided.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from reflet.api.codec import decode
from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.pleg.runtime_status import (
    RuntimeContainerStatus,
    RuntimeSandbox,
    RuntimeState,
    RuntimeStatus,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
RUNNING, EXITED, CREATED = RuntimeState.RUNNING, RuntimeState.EXITED, RuntimeState.CREATED


def container(name: str = "main", **fields: Any) -> dict[str, Any]:
    return {"name": name, "image": "none", "command": ["run"], **fields}


def pod(*containers: dict[str, Any], status: Any = None, metadata: Any = None, **spec: Any) -> Pod:
    document = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop", "uid": "u1", **(metadata or {})},
        "spec": {"containers": list(containers or (container(),)), **spec},
        "status": status or {},
    }
    return decode(msgspec.json.encode(document), Pod)


def only(pod: Pod) -> Container:
    return pod.spec.containers[0]


def life(
    name: str = "main",
    state: RuntimeState = RUNNING,
    code: int | None = None,
    *,
    attempt: int = 0,
    message: str = "",
) -> RuntimeContainerStatus:
    ended = state is EXITED
    return RuntimeContainerStatus(
        id=f"{name}-{attempt}",
        name=name,
        state=state,
        started_at=NOW,
        finished_at=NOW + timedelta(seconds=9) if ended else None,
        exit_code=code,
        restart_count=attempt,
        message=message,
    )


def seen(*lives: RuntimeContainerStatus, sandbox: bool = True) -> RuntimeStatus:
    sandboxes = (RuntimeSandbox(id="s", ready=True),) if sandbox else ()
    return RuntimeStatus(
        uid="u1", name="web", namespace="shop", containers=lives, sandboxes=sandboxes
    )
