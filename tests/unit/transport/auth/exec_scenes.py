"""Exec plugins that are scripts."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reflet.errors import CredentialsError
from reflet.transport.auth.exec_plugin import (
    ClusterInfo,
    ExecCredentials,
    ExecPlugin,
)

V1 = "client.authentication.k8s.io/v1"
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/home/alice"}


class HandClock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


def answer(**status: str) -> str:
    return json.dumps({"kind": "ExecCredential", "apiVersion": V1, "status": status})


class Scene:
    """A folder with a plugin in it that counts how often it ran."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.command = folder / "plugin"
        self.clock = HandClock()

    @property
    def runs(self) -> int:
        file = self.folder / "runs"
        return len(file.read_text()) if file.exists() else 0

    def script(self, shell: str) -> None:
        # A new file each time: a shell that still runs reads on in the old one.
        fresh = self.folder / "fresh"
        fresh.write_text(f"#!/bin/sh\nprintf x >>{self.folder}/runs\n{shell}\n")
        fresh.chmod(0o755)
        fresh.rename(self.command)

    def prints(self, text: str) -> None:
        (self.folder / "answer").write_text(text)
        self.script(f"cat {self.folder}/answer")

    def credentials(
        self,
        *,
        cluster: ClusterInfo | None = None,
        environ: Mapping[str, str] = ENVIRON,
        terminal: bool = False,
        time_limit: float | None = 30.0,
        **changes: object,
    ) -> ExecCredentials:
        plugin = ExecPlugin(setting='user "x" in FILE', command=str(self.command))
        return ExecCredentials(
            replace(plugin, **changes),  # type: ignore[arg-type]  # the tests' own keywords
            environ=environ,
            cluster=cluster,
            now=self.clock,
            time_limit=time_limit,
            stdin_is_terminal=lambda: terminal,
        )


async def failure(credentials: ExecCredentials) -> str:
    with pytest.raises(CredentialsError) as caught:
        await credentials.headers()
    message = str(caught.value)
    assert "\n" not in message
    return message.partition('of user "x" in FILE: ')[2]
