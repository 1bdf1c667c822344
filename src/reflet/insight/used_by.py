"""Who uses a ConfigMap or Secret, key by key, and who must be restarted after a change.

Users are pods, templates, custom ones included, and what the reference table knows: service
accounts, Ingresses, volumes, and objects of operators.  Pods are told under their workload.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, final

from msgspec import structs

from reflet.api.core.containers import VolumeMount
from reflet.api.core.pods import Pod
from reflet.api.core.volumes import KeyToPath, Volume
from reflet.api.frozen import Frozen
from reflet.api.unstructured import AnyObject
from reflet.insight.possible_users import Candidates
from reflet.insight.reference_table import Effect, NamedObject, Row, references_in
from reflet.resolution.objects import ConfigKind
from reflet.resolution.places import Place, PodLike, containers_of
from reflet.resolution.references import Reference, Usage, references_of
from reflet.resolution.sub_paths import clean
from reflet.resolution.templates import CustomWorkload, Workload, templates_of

_ENDED: Final = frozenset({"Succeeded", "Failed"})


class Use(Frozen, frozen=True, kw_only=True):
    """One use: as what, of which keys, by which container, and what a change takes.

    ``keys`` are ``None`` where all are used.  ``mount_path`` is where a volume is mounted and
    ``sub_path`` the part of it that is.
    """

    usage: str
    effect: Effect
    place: Place
    keys: tuple[str, ...] | None = None
    optional: bool = False
    mount_path: str = ""
    sub_path: str = ""
    prefix: str = ""


class User(Frozen, frozen=True, kw_only=True):
    """A workload, a pod of its own, or another object that names it, and its uses.

    ``pods`` are the running pods of a workload that use the object; with ``outdated``, only
    they do: the workload's template does not, any more or yet.  ``runs_pods``: whether the user
    is a pod or makes pods.
    """

    kind: str
    namespace: str
    name: str
    uses: tuple[Use, ...]
    pods: tuple[str, ...] = ()
    outdated: bool = False
    runs_pods: bool = True

    @property
    def needs_restart(self) -> bool:
        """Whether some use sees a change only after a restart."""
        return any(use.effect is Effect.RESTART for use in self.uses)


class UsedBy(Frozen, frozen=True, kw_only=True):
    """All users of an object, and how many there are."""

    kind: ConfigKind
    namespace: str
    name: str
    users: tuple[User, ...] = ()

    @property
    def workloads(self) -> int:
        """How many workloads use the object."""
        return sum(1 for user in self.users if user.runs_pods and user.kind != "Pod")

    @property
    def pods(self) -> int:
        """How many running pods use the object, those of workloads included."""
        return sum(_pods_of(user) for user in self.users)

    @property
    def others(self) -> int:
        """How many objects that make no pods use the object."""
        return sum(1 for user in self.users if not user.runs_pods)

    @property
    def workloads_to_restart(self) -> int:
        """How many workloads must be restarted after a change."""
        return sum(1 for user in self.users if user.needs_restart and user.kind != "Pod")

    @property
    def not_known(self) -> int:
        """How many users there are of whom nobody here knows what a change takes."""
        return sum(
            1 for user in self.users if any(use.effect is Effect.UNKNOWN for use in user.uses)
        )

    @property
    def pods_to_restart(self) -> int:
        """How many running pods must be restarted after a change."""
        return sum(_pods_of(user) for user in self.users if user.needs_restart)


def _pods_of(user: User) -> int:
    return 1 if user.kind == "Pod" else len(user.pods)


def used_by(
    kind: ConfigKind, namespace: str, name: str, candidates: Candidates, *, key: str = ""
) -> UsedBy:
    """Return who of the candidates uses an object, or one key of it.

    Pods that have ended use nothing any more; pods, ReplicaSets and Jobs that belong to a
    workload of the candidates are told under it.
    """
    return used_by_each(kind, (namespace,), name, candidates, key=key)[0]


def used_by_each(
    kind: ConfigKind,
    namespaces: Iterable[str],
    name: str,
    candidates: Candidates,
    *,
    key: str = "",
    rows: Iterable[Row] | None = None,
) -> list[UsedBy]:
    """Return the same for the objects of that name in several namespaces.

    ``rows`` are looked at instead of the table of references.
    """
    others = _OtherUsers(kind, name, key, candidates, None if rows is None else tuple(rows))
    answers = []
    for namespace in namespaces:
        search = _Search(kind, namespace, name, key)
        users = _merged(search.workloads(candidates), others.of(namespace))
        answers.append(UsedBy(kind=kind, namespace=namespace, name=name, users=users))
    return answers


def _merged(workloads: Iterable[User], others: Iterable[User]) -> tuple[User, ...]:
    """Return the users, each once: a custom workload may name an object outside its templates."""
    users = {(user.kind, user.namespace, user.name): user for user in workloads}
    for user in others:
        key = (user.kind, user.namespace, user.name)
        known = users.get(key)
        users[key] = (
            user if known is None else structs.replace(known, uses=(*known.uses, *user.uses))
        )
    return tuple(users.values())


@final
class _OtherUsers:
    """The objects that name one by a row of the table, by the namespace of what they name."""

    def __init__(
        self,
        kind: ConfigKind,
        name: str,
        key: str,
        candidates: Candidates,
        rows: tuple[Row, ...] | None,
    ) -> None:
        self._by_namespace: dict[str, list[User]] = {}
        templates = {
            _identity(each): tuple(f"{placed.path}." for placed in each.templates)
            for each in candidates.workloads
            if isinstance(each, CustomWorkload)
        }
        text = name.encode()
        for item in candidates.objects:
            # Whoever names it holds the name, or a part of it as their own.
            if text not in item.to_json() and item.metadata.name not in name:
                continue
            inside = templates.get(_identity(item), ())
            uses: dict[str, list[Use]] = {}
            for found in references_in(item.content, rows):
                if (found.kind, found.name) != (kind, name):
                    continue
                if not found.path.startswith(inside) and _names_the_key(found, key):
                    uses.setdefault(found.namespace, []).append(_use(found))
            for namespace, each in uses.items():
                self._by_namespace.setdefault(namespace, []).append(
                    User(
                        kind=item.kind,
                        namespace=item.metadata.namespace,
                        name=item.metadata.name,
                        uses=tuple(each),
                        runs_pods=_identity(item) in templates,
                    )
                )

    def of(self, namespace: str) -> list[User]:
        """Return the users of the object in a namespace; some name it in whichever it is."""
        here = self._by_namespace.get(namespace, [])
        return [*here, *self._by_namespace.get("", [])] if namespace else here


def _identity(item: AnyObject | CustomWorkload) -> tuple[str, str, str, str]:
    metadata = item.metadata
    return item.api_version, item.kind, metadata.namespace, metadata.name


def _names_the_key(found: NamedObject, key: str) -> bool:
    if not key:
        return True
    if found.usage in {Usage.PULL_SECRET.value, Usage.VOLUME_CREDENTIALS.value}:
        return False
    return found.keys is None or key in found.keys


def _use(found: NamedObject) -> Use:
    return Use(
        usage=found.usage or found.path,
        effect=found.effect,
        place=Place(path=found.path),
        keys=found.keys,
    )


ObjectName = tuple[str, str]
"""Kind and name, in the one namespace that is searched."""


@final
class _Search:
    """One object that is searched for."""

    def __init__(self, kind: ConfigKind, namespace: str, name: str, key: str) -> None:
        self._kind = kind
        self._namespace = namespace
        self._name = name
        self._key = key

    def workloads(self, candidates: Candidates) -> Iterator[User]:
        workloads: dict[ObjectName, Workload] = {
            (each.kind, each.metadata.name): each
            for each in candidates.workloads
            if each.metadata.namespace == self._namespace
        }
        owners = {
            name: owner
            for name, each in workloads.items()
            if (owner := _controller(each)) is not None and owner in workloads
        }
        of_templates = {
            name: uses
            for name, each in workloads.items()
            if (uses := self._uses_of_templates(each))
        }
        of_pods: dict[ObjectName, dict[str, tuple[Use, ...]]] = {}
        for pod in candidates.pods:
            if pod.metadata.namespace != self._namespace or pod.status.phase in _ENDED:
                continue
            uses = self.uses_of(pod)
            if uses:
                top = _top(_controller(pod), owners, workloads)
                owner = ("Pod", pod.metadata.name) if top is None else top
                of_pods.setdefault(owner, {})[pod.metadata.name] = uses
        # A ReplicaSet without pods is only the history of its Deployment.
        own_templates = [name for name in of_templates if name not in owners]
        for name in sorted({*own_templates, *of_pods}, key=_rank):
            # Of an owner that is not among the workloads, the template is not known.
            template = of_templates.get(name, () if name in workloads else None)
            yield self._user(name, template, of_pods.get(name, {}))

    def _user(
        self,
        name: ObjectName,
        template: tuple[Use, ...] | None,
        pods: Mapping[str, tuple[Use, ...]],
    ) -> User:
        kind, own_name = name
        uses = template or next(iter(pods.values()))
        return User(
            kind=kind,
            namespace=self._namespace,
            name=own_name,
            uses=uses,
            pods=() if kind == "Pod" else tuple(sorted(pods)),
            outdated=template == (),
        )

    def _uses_of_templates(self, workload: Workload) -> tuple[Use, ...]:
        placed = templates_of(workload)
        return tuple(use for each in placed for use in self.uses_of(each.template))

    def uses_of(self, pod: PodLike) -> tuple[Use, ...]:
        """Return the uses by a pod or a template."""
        uses = (
            use
            for reference in references_of(pod)
            if (reference.kind, reference.name) == (self._kind, self._name)
            for use in _of_reference(pod, reference)
        )
        return tuple(use for use in uses if self._shows_the_key(use))

    def _shows_the_key(self, use: Use) -> bool:
        if not self._key:
            return True
        if use.usage in {Usage.PULL_SECRET.value, Usage.VOLUME_CREDENTIALS.value}:
            return False
        return use.keys is None or self._key in use.keys


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


def _controller(item: Pod | Workload) -> ObjectName | None:
    for owner in item.metadata.owner_references:
        if owner.controller:
            return owner.kind, owner.name
    return None


def _top(
    owner: ObjectName | None,
    owners: Mapping[ObjectName, ObjectName],
    workloads: Mapping[ObjectName, Workload],
) -> ObjectName | None:
    """Return the outermost owner; one that is not among the workloads still has a name."""
    if owner is None:
        return None
    seen = {owner}
    while owner in workloads and owner in owners and owners[owner] not in seen:
        owner = owners[owner]
        seen.add(owner)
    return owner


def _rank(name: ObjectName) -> tuple[bool, str, str]:
    kind, own_name = name
    return kind == "Pod", kind, own_name
