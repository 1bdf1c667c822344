"""How a pod, or a template of pods, uses one ConfigMap or Secret: by name, and by label.

Each use says which keys it shows, in which container, and what a change takes until it is seen.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from reflet.api.core.containers import VolumeMount
from reflet.api.core.volumes import KeyToPath, Volume
from reflet.api.frozen import Frozen
from reflet.gotext.paths import clean
from reflet.insight.reference_table import Effect
from reflet.insight.sidecars import SidecarContainer
from reflet.resolution.objects import ConfigKind
from reflet.resolution.places import Place, PodLike, containers_of
from reflet.resolution.references.references import Reference, Usage, references_of

SIDECAR: Final = "sidecar"
"""What the use of an object by a container is called that picks it up by label."""


class Use(Frozen, frozen=True, kw_only=True):
    """One use: as what, of which keys, by which container, and what a change takes.

    ``keys`` are ``None`` where all are used.  ``mount_path`` is where a volume is mounted and
    ``sub_path`` the part of it that is.  ``selection`` is how a sidecar came to pick it up.
    """

    usage: str
    effect: Effect
    place: Place
    keys: tuple[str, ...] | None = None
    optional: bool = False
    mount_path: str = ""
    sub_path: str = ""
    prefix: str = ""
    selection: str = ""


def uses_in(pod: PodLike, kind: ConfigKind, name: str) -> Iterator[Use]:
    """Yield the uses of an object that a pod or a template names."""
    for reference in references_of(pod):
        if (reference.kind, reference.name) == (kind, name):
            yield from _of_reference(pod, reference)


def use_by_sidecar(sidecar: SidecarContainer) -> Use:
    """Return the use of an object that a sidecar picks up."""
    selection = sidecar.selection
    if not selection.certain:
        effect = Effect.UNKNOWN
    else:
        effect = Effect.RESTART if selection.once else Effect.LIVE
    return Use(usage=SIDECAR, effect=effect, place=sidecar.place, selection=str(selection))


def _of_reference(pod: PodLike, reference: Reference) -> Iterator[Use]:
    usage = reference.usage
    if usage is Usage.VOLUME:
        yield from _of_mounts(pod, reference)
        return
    effects = {Usage.PULL_SECRET: Effect.NEXT_PULL, Usage.VOLUME_CREDENTIALS: Effect.NEXT_MOUNT}
    yield Use(
        usage=usage.value,
        effect=effects.get(usage, Effect.RESTART),
        place=reference.place,
        keys=reference.keys,
        optional=reference.optional,
        prefix=reference.prefix,
    )


def _of_mounts(pod: PodLike, reference: Reference) -> Iterator[Use]:
    volume = next(each for each in pod.spec.volumes if each.name == reference.place.volume)
    items = _items(volume, reference)
    mounts = [
        (placed.container.name, mount)
        for placed in containers_of(pod.spec)
        for mount in placed.container.volume_mounts
        if mount.name == volume.name
    ]
    if not mounts:
        yield Use(
            usage=reference.usage.value,
            effect=Effect.UNMOUNTED,
            place=reference.place,
            keys=reference.keys,
            optional=reference.optional,
        )
    for container, mount in mounts:
        keys = _keys_shown(mount, items, reference.keys)
        if keys == ():  # the sub-path shows another source of the volume
            continue
        yield Use(
            usage=reference.usage.value,
            # A sub-path is looked up once, when the container starts.
            effect=Effect.RESTART if mount.sub_path or mount.sub_path_expr else Effect.LIVE,
            place=Place(path=reference.place.path, container=container, volume=volume.name),
            keys=keys,
            optional=reference.optional,
            mount_path=mount.mount_path,
            sub_path=mount.sub_path or mount.sub_path_expr,
        )


def _items(volume: Volume, reference: Reference) -> tuple[KeyToPath, ...]:
    if volume.config_map is not None:
        return volume.config_map.items
    if volume.secret is not None:
        return volume.secret.items
    for index, source in enumerate(() if volume.projected is None else volume.projected.sources):
        if f".sources[{index}]." in reference.place.path:
            keyed = source.config_map or source.secret
            return () if keyed is None else keyed.items
    return ()


def _keys_shown(
    mount: VolumeMount, items: Sequence[KeyToPath], keys: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    if not mount.sub_path:
        return keys
    part = clean(mount.sub_path)
    if not items:
        # Without items a file has the name of its key.
        return (part,)
    return tuple(
        item.key
        for item in items
        if clean(item.path) == part or clean(item.path).startswith(f"{part}/")
    )
