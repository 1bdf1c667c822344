"""Pods from a folder of manifests, read again when a file changes; static pods among them.

The folder is looked at every second and not watched with inotify: that would miss changes on
network file systems, and a look costs a ``stat`` for each file.

Upstream: pkg/kubelet/config/file.go, sourceFile; pkg/kubelet/config/common.go, applyDefaults
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from reflet.api.codec import encode
from reflet.api.core.pods import Pod
from reflet.api.yaml.text import read_manifests
from reflet.errors import RefletError
from reflet.managers.registry import PodKey
from reflet.pods.pod_manager import HASH_ANNOTATION, SOURCE_ANNOTATION, refuse_references
from reflet.pods.pod_sources import AllPodsSeen, PodGone, PodNews, PodSeen
from reflet.runtime.clock import Clock, SystemClock

LOOK_EVERY: Final = 1.0  # seconds
MANIFESTS: Final = frozenset({".json", ".yaml", ".yml"})
FILE_SOURCE: Final = "file"
UID_LENGTH: Final = 32  # hexadecimal digits

logger = logging.getLogger(__name__)

_Stamp = tuple[int, int, int]
_SHORTAGES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it was read last: when it was written, and the pods in it.

    Without a stamp it is read again at the next look; *problem* is why it could not be read.
    """

    stamp: _Stamp | None = None
    pods: tuple[Pod, ...] = ()
    problem: str = ""


class FolderPods:
    """The pods in the files of a folder, ``.yaml``, ``.yml`` and ``.json``, hidden ones left out.

    Looks at the folder *every* so many seconds.  A file that cannot be read, or holds no valid
    manifest, is reported once and keeps the pods that it had before; the former is tried again at
    each look.  A folder that is not there is empty; one that cannot be looked at is as it was.

    A pod without a namespace is in *namespace*.  One without a uid gets one, the same each time.

    With *static* the pods are those of the node itself, as the kubelet has them: their names end
    in that of *node_name*, each change makes another pod of them, and they may not refer to
    objects of the API server.

    *complete* is called for each pod that was read, in a thread, and gives the pod to report:
    with the defaults of the API server, for example.

    - *folder*: the folder
    """

    def __init__(
        self,
        folder: Path,
        *,
        namespace: str = "default",
        static: bool = False,
        node_name: str = "",
        every: float = LOOK_EVERY,
        complete: Callable[[Pod], Pod] = lambda pod: pod,
        clock: Clock | None = None,
    ) -> None:
        self._folder = folder
        self._namespace = namespace
        self._static = static
        self._node_name = node_name
        self._every = every
        self._complete = complete
        self._clock = clock or SystemClock()
        self._complained: str | None = None

    async def news(self) -> AsyncGenerator[PodNews | AllPodsSeen, None]:
        """Yield every pod that is there, AllPodsSeen, then what happens, until it is closed."""
        files: dict[Path, _File] = {}
        known: dict[PodKey, Pod] = {}
        is_first_look = True
        while True:
            # In a thread: the folder may be on a machine that does not answer.
            try:
                files = await asyncio.to_thread(self._read, files)
            except OSError as error:
                # What cannot be seen, for want of descriptors for one, is not gone.
                self._complain(error)
                await self._clock.sleep(self._every)
                continue
            there = {PodKey.of(pod): pod for file in files.values() for pod in file.pods}
            for key, pod in known.items():
                if key not in there:
                    yield PodGone(pod)
            for key, pod in there.items():
                if known.get(key) != pod:
                    yield PodSeen(pod)
            known = there
            if is_first_look:
                is_first_look = False
                yield AllPodsSeen()
            await self._clock.sleep(self._every)

    def why_not_ready(self) -> str | None:
        """What is wrong with the folder."""
        return None if self._folder.is_dir() else f"there is no folder {self._folder}"

    def _read(self, before: dict[Path, _File]) -> dict[Path, _File]:
        """Look at the folder, and read what has changed; OSError when that cannot be done now."""
        files: dict[Path, _File] = {}
        for path, stamp in self._stamps():
            last = before.get(path, _File())
            is_known = stamp is not None and last.stamp == stamp
            files[path] = last if is_known else self._file(path, stamp, last)
        return files

    def _file(self, path: Path, stamp: _Stamp | None, last: _File) -> _File:
        try:
            return _File(stamp, tuple(self._pods_in(path)))
        except (OSError, RefletError) as error:
            if isinstance(error, OSError) and error.errno in _SHORTAGES:
                raise
            problem = str(error)
            if problem != last.problem or last.stamp is not None:
                logger.warning("%s is left as it was: %s", path, problem)
            return _File(None if isinstance(error, OSError) else stamp, last.pods, problem)

    def _stamps(self) -> Iterator[tuple[Path, _Stamp | None]]:
        try:
            paths = sorted(self._folder.iterdir())
        except (FileNotFoundError, NotADirectoryError) as error:
            self._complain(error)
            return
        self._complained = None
        for path in paths:
            if path.suffix not in MANIFESTS or path.name.startswith("."):
                continue
            try:
                status = path.stat()
            except FileNotFoundError:
                continue  # it has just gone
            except OSError:
                yield path, None
            else:
                yield path, (status.st_mtime_ns, status.st_size, status.st_ino)

    def _complain(self, error: OSError) -> None:
        problem = f"cannot read the folder {self._folder}: {error.strerror}"
        if problem != self._complained:
            logger.warning("%s", problem)
        self._complained = problem

    def _pods_in(self, path: Path) -> Iterator[Pod]:
        for manifest in read_manifests(path.read_bytes(), source=str(path)):
            if isinstance(manifest.object, Pod):
                yield self._complete(self._identified(manifest.object, path))
            else:
                logger.warning("%s: this is no pod", manifest.place)

    def _identified(self, pod: Pod, path: Path) -> Pod:
        """The pod with the namespace, name and uid under which it is known."""
        namespace = pod.metadata.namespace or self._namespace
        if not self._static:
            uid = pod.metadata.uid or _digest(namespace, pod.metadata.name)
            return replace(pod, metadata=replace(pod.metadata, namespace=namespace, uid=uid))
        refuse_references(pod)
        ending = f"-{self._node_name}" if self._node_name else ""
        content = _digest(self._node_name, path.name, encode(pod).decode())
        metadata = replace(
            pod.metadata,
            namespace=namespace,
            name=f"{pod.metadata.name}{ending}",
            uid=pod.metadata.uid or content,
            annotations={
                **pod.metadata.annotations,
                SOURCE_ANNOTATION: FILE_SOURCE,
                HASH_ANNOTATION: content,
            },
        )
        spec = replace(pod.spec, node_name=self._node_name or pod.spec.node_name)
        return replace(pod, metadata=metadata, spec=spec)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:UID_LENGTH]
