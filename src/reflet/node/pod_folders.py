"""Which pods have a folder here: made for them, and remembered for the next life of the agent.

Both runtimes keep a pod's volumes and containers' files there; what else they keep is theirs.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from reflet.api.core.pods import Pod
from reflet.node.container_runtime import DEFAULT_GRACE, Sandbox
from reflet.node.shim.container_records import write_private
from reflet.runtime.clock import Clock
from reflet.volumes.pod_directories import PodDirectories

SANDBOX_FILE: Final = "plugins/reflet/pod.json"


class PodFolders:
    """The folders of pods in *directories*, and a file in each that says whose it is."""

    def __init__(self, directories: PodDirectories, *, clock: Clock) -> None:
        self._directories = directories
        self._clock = clock
        self._sandboxes: dict[str, Sandbox] = {}
        self._made: set[str] = set()

    @property
    def sandboxes(self) -> tuple[Sandbox, ...]:
        """Every pod that has a folder here."""
        return tuple(self._sandboxes.values())

    def find(self, uid: str) -> Sandbox | None:
        """What is remembered of a pod."""
        return self._sandboxes.get(uid)

    def load(self) -> tuple[Sandbox, ...]:
        """Read which pods an earlier life of the agent left."""
        for uid in self._directories.uids():
            try:
                document = json.loads(self._file(uid).read_bytes())
                self._sandboxes[uid] = Sandbox(**document)
            except (OSError, ValueError, TypeError):
                # A folder without its file: begun and not finished, or taken down in part.
                self._sandboxes[uid] = Sandbox(uid=uid, name="", namespace="", created_at=0.0)
        return self.sandboxes

    def remember(self, sandbox: Sandbox) -> None:
        """Something of this pod was found elsewhere."""
        known = self._sandboxes.get(sandbox.uid)
        if known is None or not known.name:
            self._sandboxes[sandbox.uid] = sandbox

    def make(self, pod: Pod, *, group: int | None = None) -> None:
        """Make a pod's folder, if it has none; members of *group* may enter."""
        uid = pod.metadata.uid
        grace = pod.spec.termination_grace_period_seconds
        made = Sandbox(
            uid=uid,
            name=pod.metadata.name,
            namespace=pod.metadata.namespace,
            created_at=self._clock.now().timestamp(),
            grace=DEFAULT_GRACE if grace is None else grace,
        )
        known = self._sandboxes.get(uid)
        if known is not None:
            made = replace(made, created_at=known.created_at)
        if known == made and uid in self._made:
            return
        # Also for a pod that an earlier life left: its folder in memory may be gone since.
        self._directories.make_pod(uid, group=group)
        self._made.add(uid)
        path = self._file(uid)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(path, json.dumps(asdict(made)).encode())
        self._sandboxes[uid] = made

    def forget(self, uid: str) -> None:
        """The pod's folder is gone."""
        self._sandboxes.pop(uid, None)
        self._made.discard(uid)

    def _file(self, uid: str) -> Path:
        return self._directories.pod(uid) / SANDBOX_FILE
