"""The volumes of a result as files: which are written, and what became of each.

How a folder is written is ``volumes``; where folders are, whoever uses this says.

Upstream: pkg/volume/configmap/configmap.go, configMapVolumeMounter.SetUpAt, and its like in
pkg/volume/secret, pkg/volume/projected and pkg/volume/downwardapi
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from reflet.api.core.pods import Pod
from reflet.api.frozen import EMPTY
from reflet.errors import ConfigurationError
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.resolution.file_contents import VolumeContents
from reflet.resolution.problems import InvalidMountPoint
from reflet.resolution.sub_paths import nested_mount_points
from reflet.volumes import folders
from reflet.volumes.atomic_writer import AtomicWriter
from reflet.volumes.parts import make_mount_points
from reflet.volumes.tear_down import Kept
from reflet.volumes.volume_errors import VolumeError, VolumeRefused

ChooseFolder = Callable[[VolumeContents], Path]
"""Tells which folder a volume is to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredVolumes:
    """What became of the volumes, by name.

    ``changed`` have a new version, ``unchanged`` had these contents already.  ``failures`` are
    why the others were left as they were, in the kubelet's words where it has some.  ``notes``
    are what could not be done though the volume was written: owners that may not be given, files
    of others in the way.
    """

    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    failures: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: EMPTY)


class VolumeDelivery:
    """Writes the volumes of results into the folders that *choose* names.

    A volume that has an error is not touched: what was delivered before stays, as it does for
    running pods.  Folders that are missing are made with *mode*.  *only* names the volumes to
    write, None all of them.  With *mount_points*, the folders that other mounts need are made
    first.  *durable* and *alone* are those of ``AtomicWriter``.

    Blocks; may be used from any thread, by one at a time.
    """

    def __init__(
        self,
        choose: ChooseFolder,
        *,
        only: Collection[str] | None = None,
        mount_points: bool = True,
        mode: int = folders.PRIVATE,
        durable: bool = False,
        alone: bool = False,
    ) -> None:
        self._choose = choose
        self._only = only
        self._mount_points = mount_points
        self._mode = mode
        self._durable = durable
        self._alone = alone

    def write(self, resolved: ResolvedPod) -> DeliveredVolumes:
        """Make the folders equal to the volumes; ConfigurationError for a name there is not."""
        changed: list[str] = []
        unchanged: list[str] = []
        failures: dict[str, str] = {}
        notes: dict[str, tuple[str, ...]] = {}
        for name, contents in self._chosen(resolved).items():
            try:
                writer = self._writer(contents)
                if contents.error is None and self._mount_points:
                    self._make_mount_points(resolved.pod, name, writer.target)
                (changed if writer.write(contents) else unchanged).append(name)
            except VolumeError as error:
                failures[name] = str(error)
            else:
                if writer.notes:
                    notes[name] = writer.notes
        return DeliveredVolumes(
            changed=tuple(changed),
            unchanged=tuple(unchanged),
            failures=MappingProxyType(failures),
            notes=MappingProxyType(notes),
        )

    def remove(self, resolved: ResolvedPod) -> tuple[Kept, ...]:
        """Remove what was written; the answer is what is kept, because somebody else made it."""
        kept: list[Kept] = []
        for contents in self._chosen(resolved).values():
            writer = self._writer(contents)
            kept += (Kept(str(writer.target / each.path), each.reason) for each in writer.remove())
        return tuple(kept)

    def _writer(self, contents: VolumeContents) -> AtomicWriter:
        return AtomicWriter(
            self._choose(contents), mode=self._mode, durable=self._durable, alone=self._alone
        )

    def _chosen(self, resolved: ResolvedPod) -> Mapping[str, VolumeContents]:
        if self._only is None:
            return resolved.volumes
        missing = [name for name in self._only if name not in resolved.volumes]
        if missing:
            there = ", ".join(resolved.volumes) or "none"
            raise ConfigurationError(
                f"pod {resolved.pod.metadata.name or '(unnamed)'} has no volume "
                f"{', '.join(missing)} that holds configuration; it has {there}"
            )
        return {name: resolved.volumes[name] for name in resolved.volumes if name in self._only}

    def _make_mount_points(self, pod: Pod, name: str, target: Path) -> None:
        points = nested_mount_points(pod, name)
        if isinstance(points, InvalidMountPoint):
            raise VolumeRefused(points.error)
        make_mount_points(target, points, mode=self._mode)
