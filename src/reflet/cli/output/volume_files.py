"""The files of a pod's volumes: listed, written, and kept fresh until somebody has enough.

Nothing is written unless everything can be.  ``reflet files --watch`` holds to that before its
first writing; afterwards what can no longer be resolved is said, and what was written stays.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec
from msgspec import structs

from reflet.api.core.pods import Pod, PodSpec
from reflet.cli import lazy
from reflet.cli.output.environment_output import cell_meaning, origin_text
from reflet.cli.output.output import print_document, print_fitting_table, visible
from reflet.cli.output.problem_output import (
    Notice,
    fixes_for,
    notices_of,
    surroundings,
    tell,
    tell_few,
)
from reflet.errors import DecodeError, RefletError
from reflet.informer.handlers.changes import Change
from reflet.insight.custom_workloads import pod_made_by
from reflet.managers.manager import ConfigMapManager, SecretManager
from reflet.podconfig.gather_files import fingerprint
from reflet.podconfig.pod_configuration import PodConfiguration
from reflet.podconfig.resolved_pod import ResolvedPod, difference
from reflet.podconfig.service_account_tokens import ServiceAccountTokens
from reflet.podconfig.trust_bundle_watch import TrustBundles
from reflet.resolution.pod_inputs import Needs, PodInputs, no_reference
from reflet.resolution.references.references import Reference, Usage
from reflet.resolution.templates.service_account_volume import ADDED_VOLUME
from reflet.resolution.templates.templates import pod_resource
from reflet.resolution.volumes.file_contents import FileContent, VolumeContents
from reflet.resolution.volumes.volume_contents import configuration_volumes
from reflet.volumes.atomic_writer import AtomicWriter
from reflet.volumes.folders import PRIVATE
from reflet.volumes.payload_paths import laid_out
from reflet.volumes.volume_errors import InvalidPath, VolumeError, in_folder

if TYPE_CHECKING:
    from reflet.cli.options.pod_options import PodChoice
    from reflet.cluster import Cluster
    from reflet.transport.config.settings import ConnectionSettings

HEADINGS: Final = ("VOLUME", "PATH", "MODE", "SIZE", "FROM")
BY_ADMISSION: Final = "added by admission"
LOOK_EVERY: Final = 1.0  # seconds between two looks at manifests
SYNC_TIMEOUT: Final = 30.0  # seconds that the first answer about an object may take


def needs_of_volumes(
    names: Sequence[str], *, tokens: bool = False, admission: bool = False
) -> Needs:
    """Return what must be read for the named volumes, or for all of them."""

    def of_a_volume(_: Pod, reference: Reference) -> bool:
        named = not names or reference.place.volume in names
        return reference.usage is Usage.VOLUME and named

    return Needs(
        references=of_a_volume, services=False, tokens=tokens, bundles=True, admission=admission
    )


def refused_volumes(volumes: Sequence[VolumeContents]) -> dict[str, str]:
    """Return what a kubelet says of the volumes that it would refuse, by their names."""
    refused = {}
    for contents in volumes:
        error = contents.error
        try:
            laid_out(contents.files)
        except InvalidPath as invalid:
            error = error or str(invalid)
        if error is not None:
            refused[contents.volume] = error
    return refused


def tell_refused(
    inputs: PodInputs,
    volumes: Sequence[VolumeContents],
    *,
    verbose: bool,
    notices: Sequence[Notice] = (),
) -> frozenset[str]:
    """Say what is wrong with the volumes; return the names of those that a kubelet would refuse.

    *notices* are said in the same breath.
    """
    problems = [problem for contents in volumes for problem in contents.problems]
    wrong = notices_of(problems, fixes=fixes_for(inputs, problems))
    tell_few([*notices, *wrong], verbose=verbose)
    refused = refused_volumes(volumes)
    for volume, error in refused.items():
        tell("error", f"volume {volume} would not be set up: {error}")
    return frozenset(refused)


def writable(contents: VolumeContents) -> tuple[VolumeContents, tuple[str, ...]]:
    """Return what can be written, and the paths of files that are not known and left out."""
    unknown = tuple(path for path, file in contents.files.items() if not file.known)
    if not unknown:
        return contents, ()
    known = {path: file for path, file in contents.files.items() if file.known}
    return structs.replace(contents, files=known), unknown


def write_volumes(folder: Path, volumes: Sequence[VolumeContents]) -> None:
    """Write volumes below a folder, as VOLUME/PATH; what is not known is left out, and said.

    A folder that is there and is to hold secrets is closed to others first, and that is said.
    Raises VolumeError for one that cannot be closed, before anything is written.
    """
    for contents in volumes:
        if any(file.sensitive for file in contents.files.values()):
            _close(folder / contents.volume, contents.fs_group)
    for contents in volumes:
        known, unknown = writable(contents)
        for path in unknown:
            tell("note", f"{contents.volume}/{path} is left out: only a running pod has it")
        writer = AtomicWriter(folder / contents.volume)
        writer.write(known)
        for note in writer.notes:
            tell("note", note)


def _close(folder: Path, group: int | None) -> None:
    """Close a folder to everybody but its owner, and *group*, to which the volume belongs."""
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return  # it is made, private, or the writer says what is wrong with it
    try:
        found = os.fstat(opened)
        if not _is_open_to_others(found, group):
            return
        if found.st_uid != os.geteuid():
            raise VolumeError(
                f"{folder} belongs to another user, so it is no place for Secrets and tokens: "
                "choose another folder with --to"
            )
        with in_folder(folder):
            os.fchmod(opened, PRIVATE)
        if _is_open_to_others(os.fstat(opened), group):
            raise VolumeError(
                f"{folder} cannot be closed to others, so it is no place for Secrets and tokens: "
                "choose another folder with --to"
            )
    finally:
        os.close(opened)
    tell("note", f"{folder} is to hold secrets, so it is closed to other users (mode 0700)")


def _is_open_to_others(found: os.stat_result, group: int | None) -> bool:
    bits = 0o007 if found.st_gid == group else 0o077
    return bool(found.st_mode & bits)


def print_volumes(volumes: Sequence[VolumeContents], output: str, *, no_headers: bool) -> None:
    """Print the files of volumes in a form of ``reflet files -o``."""
    listed = [
        (contents.volume, path, file)
        for contents in volumes
        for path, file in contents.files.items()
    ]
    if output in {"json", "yaml"}:
        print_document([_document(*each) for each in listed], output)
        return
    print_files(volumes, no_headers=no_headers, wide=output == "wide")


def print_files(volumes: Sequence[VolumeContents], *, no_headers: bool, wide: bool = False) -> None:
    """Print the files of volumes, and where each comes from; what admission adds is one row."""
    rows = [
        (
            contents.volume,
            path,
            mode_text(file.mode),
            f"{len(file.data)} B" if file.known else "?",
            origin_text(file.origin),
        )
        for contents in volumes
        if contents.volume != ADDED_VOLUME
        for path, file in contents.files.items()
    ]
    rows += (
        (contents.volume, ", ".join(contents.files), "", "", BY_ADMISSION)
        for contents in volumes
        if contents.volume == ADDED_VOLUME
    )
    if rows:
        print_fitting_table(
            HEADINGS,
            rows,
            flexible=(4, 0, 1),
            no_headers=no_headers,
            wide=wide,
            meaning=cell_meaning,
        )


def _document(volume: str, path: str, file: FileContent) -> dict[str, Any]:
    return {
        "volume": volume,
        "path": path,
        "mode": mode_text(file.mode),
        "size": len(file.data) if file.known else None,
        "source": msgspec.to_builtins(file.origin),
        "addedByAdmission": volume == ADDED_VOLUME,
    }


def mode_text(mode: int) -> str:
    """Return a mode as people write it: ``0644``."""
    return f"{mode:04o}"


# Kept fresh


def watch_files(choice: PodChoice, names: Sequence[str], folder: Path, *, verbose: bool) -> int:
    """Write the volumes and keep them fresh; the answer is the exit code of not beginning."""
    if choice.files:
        return watch_manifests(choice, names, folder, verbose=verbose)
    inputs = choice.gather(Needs(references=no_reference, services=False))
    inputs.volumes(names)  # refuses names that there are not
    tell_few(surroundings(inputs), verbose=verbose)
    # The same things are said on stderr in this command's own words.
    logging.getLogger("reflet").addHandler(logging.NullHandler())
    freshness = Freshness(inputs, folder, verbose=verbose)
    return lazy.event_loop.run(_watch_cluster(choice.connection(), inputs, names, freshness))


class Freshness:
    """Writes results and says what is new in each."""

    def __init__(self, inputs: PodInputs, folder: Path, *, verbose: bool) -> None:
        self._inputs = inputs
        self._verbose = verbose
        self._folder = folder
        self._last: ResolvedPod | None = None

    def deliver(self, pod: Pod, volumes: Sequence[VolumeContents]) -> bool:
        """Write what can be written; False when nothing was ever written and now is refused."""
        refused = tell_refused(self._inputs, volumes, verbose=self._verbose)
        if refused and self._last is None:
            return False
        good = [contents for contents in volumes if contents.volume not in refused]
        try:
            write_volumes(self._folder, good)
        except RefletError as error:
            if self._last is None:
                raise
            tell("error", str(error))
        contents = {each.volume: each for each in volumes}
        resolved = ResolvedPod(pod=pod, environments={}, volumes=contents)
        for line in difference(self._last, resolved).lines():
            click.echo(visible(line))
        self._last = resolved
        return True


# From a cluster


async def _watch_cluster(
    settings: ConnectionSettings, inputs: PodInputs, names: Sequence[str], freshness: Freshness
) -> int:
    async with AsyncExitStack() as opened:
        cluster = await opened.enter_async_context(lazy.cluster.Cluster(settings))
        managers = (
            await opened.enter_async_context(ConfigMapManager(cluster, sync_timeout=SYNC_TIMEOUT)),
            await opened.enter_async_context(SecretManager(cluster, sync_timeout=SYNC_TIMEOUT)),
        )
        configuration = await opened.enter_async_context(
            PodConfiguration(
                volumes_only(inputs.pod, names),
                *managers,
                services=(),
                node=inputs.node,
                tokens=ServiceAccountTokens(cluster),
                bundles=await opened.enter_async_context(TrustBundles(cluster)),
            )
        )
        await opened.enter_async_context(_following(cluster, inputs, names, configuration))
        async with aclosing(configuration.changes()) as changes:
            async for resolved in changes:
                volumes = tuple(resolved.volumes.values())
                if not await asyncio.to_thread(freshness.deliver, resolved.pod, volumes):
                    return 1
    return 0


def _following(
    cluster: Cluster, inputs: PodInputs, names: Sequence[str], configuration: PodConfiguration
) -> Any:
    """Return a mirror of the one object that was asked for, which tells what becomes of it."""

    def changed(change: Change[Any]) -> None:
        if change.type == "DELETED":
            tell("warning", f"{inputs.target} is gone; its files stay as they are")
            return
        try:
            pod = pod_made_by(change.object)
        except DecodeError as error:
            tell("warning", f"{error}; its files stay as they are")
            return
        if pod is not None:
            configuration.update(volumes_only(pod, names))

    said: set[str] = set()

    def failed(error: Exception) -> None:
        text = f"{inputs.target} cannot be watched: {error}; trying again"
        if text not in said:
            said.add(text)
            tell("warning", text)

    mirror = cluster.mirror(
        inputs.resource or pod_resource(inputs.kind),
        namespace=inputs.namespace,
        field_selector=f"metadata.name={inputs.name}",
        on_error=failed,
    )
    mirror.add_handler(changed, name=f"files of {inputs.target}")
    return mirror


def volumes_only(pod: Pod, names: Sequence[str]) -> Pod:
    """Return the pod with nothing but the volumes that are meant, so that only they are read."""
    chosen = names or configuration_volumes(pod)
    spec = pod.spec
    needed = PodSpec(
        volumes=tuple(volume for volume in spec.volumes if volume.name in chosen),
        # What downward files show of containers, and who owns the files.
        containers=tuple(structs.replace(each, env=(), env_from=()) for each in spec.containers),
        init_containers=tuple(
            structs.replace(each, env=(), env_from=()) for each in spec.init_containers
        ),
        security_context=spec.security_context,
        resources=spec.resources,
        service_account_name=spec.service_account_name or "default",
        node_name=spec.node_name,
        enable_service_links=False,
    )
    return structs.replace(pod, spec=needed)


# From files


def watch_manifests(
    choice: PodChoice,
    names: Sequence[str],
    folder: Path,
    *,
    verbose: bool,
    pause: Callable[[float], None] = time.sleep,
) -> int:
    """Write the volumes of a pod of the files, again whenever a file has changed."""
    if choice.files.reads_standard_input:
        raise click.UsageError("standard input does not change: leave out --watch, or -f -")
    freshness: Freshness | None = None
    seen: object = None
    while True:
        now = fingerprint(choice.files)
        if now != seen:
            seen = now
            try:
                inputs = choice.gather(needs_of_volumes(names))
                volumes = list(inputs.volumes(names).values())
            except RefletError as error:
                if freshness is None:
                    raise
                tell("error", str(error))
            else:
                if freshness is None:
                    tell_few(surroundings(inputs), verbose=verbose)
                    freshness = Freshness(inputs, folder, verbose=verbose)
                if not freshness.deliver(inputs.pod, volumes):
                    return 1
        pause(LOOK_EVERY)
