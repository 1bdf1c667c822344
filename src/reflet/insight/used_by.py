"""Who uses a ConfigMap or Secret, key by key, and who must be restarted after a change.

Users are pods, templates, custom ones included, and what the reference table knows: service
accounts, Ingresses, volumes, and objects of operators.  Sidecars that pick it up by its labels are
users, too, in whichever namespace they run.  Pods are told under their workload.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, final

from msgspec import structs

from reflet.api.core.pods import Pod
from reflet.api.frozen import Frozen
from reflet.api.unstructured import AnyObject
from reflet.insight.owners import OwnerName, controller_name, owners_of
from reflet.insight.pod_uses import Use, use_by_sidecar, uses_in
from reflet.insight.possible_users import Candidates
from reflet.insight.reference_table import Effect, NamedObject, Row, references_in
from reflet.insight.sidecars import SidecarContainer, sidecars_of
from reflet.resolution.objects import ConfigKind, ObjectKey
from reflet.resolution.places import Place, PodLike
from reflet.resolution.references.references import Usage
from reflet.resolution.templates.templates import CustomWorkload, Workload, templates_of

_ENDED: Final = frozenset({"Succeeded", "Failed"})


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
    placed = _ByNamespace(candidates)
    answers = []
    for namespace in namespaces:
        target: ObjectKey = (kind, namespace, name)
        search = _Search(target, key, candidates.labels.get(target), placed)
        users = _merged(search.workloads(), others.of(namespace))
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


class _Candidate(NamedTuple):
    """A pod or workload, and its containers that pick up objects by label."""

    item: Pod | Workload
    pods: tuple[PodLike, ...]
    sidecars: tuple[SidecarContainer, ...]


@final
class _ByNamespace:
    """The candidates of each namespace; those that have ended are left out."""

    def __init__(self, candidates: Candidates) -> None:
        self._by_namespace: dict[str, list[_Candidate]] = {}
        with_sidecars: set[str] = set()
        for item in (*candidates.pods, *candidates.workloads):
            if isinstance(item, Pod) and item.status.phase in _ENDED:
                continue
            namespace = item.metadata.namespace
            pods = _pods_in(item)
            sidecars = tuple(
                found for pod in pods for found in sidecars_of(pod, namespace, candidates.at_hand)
            )
            self._by_namespace.setdefault(namespace, []).append(_Candidate(item, pods, sidecars))
            if sidecars:
                with_sidecars.add(namespace)
        self._with_sidecars = sorted(with_sidecars)

    def of(self, namespace: str) -> list[_Candidate]:
        """Return the candidates of a namespace."""
        return self._by_namespace.get(namespace, [])

    def namespaces(self, first: str) -> dict[str, None]:
        """Return a namespace, and those whose sidecars may reach into it."""
        return dict.fromkeys((first, *self._with_sidecars))


def _pods_in(item: Pod | Workload) -> tuple[PodLike, ...]:
    return (item,) if isinstance(item, Pod) else tuple(each.template for each in templates_of(item))


@final
class _Search:
    """One object that is searched for; ``labels`` are ``None`` when they are not known."""

    def __init__(
        self,
        target: ObjectKey,
        key: str,
        labels: Mapping[str, str] | None,
        candidates: _ByNamespace,
    ) -> None:
        self._target = target
        self._kind, self._namespace, self._name = target
        self._key = key
        self._labels = labels
        self._candidates = candidates

    def workloads(self) -> Iterator[User]:
        """Yield the pods and workloads that use the object, those of its namespace first."""
        for namespace in self._candidates.namespaces(self._namespace):
            yield from self._in(namespace)

    def _in(self, namespace: str) -> Iterator[User]:
        here = self._candidates.of(namespace)
        workloads: dict[OwnerName, Workload] = {
            (each.item.kind, each.item.metadata.name): each.item
            for each in here
            if not isinstance(each.item, Pod)
        }
        owners = {
            name: owner
            for name, each in workloads.items()
            if (owner := controller_name(each)) is not None and owner in workloads
        }
        of_templates: dict[OwnerName, tuple[Use, ...]] = {}
        of_pods: dict[OwnerName, dict[str, tuple[Use, ...]]] = {}
        for each in here:
            uses = self._uses_of(each, namespace)
            name = each.item.metadata.name
            if not uses:
                continue
            if isinstance(each.item, Pod):
                # A maker that is not among the workloads still has a name.
                owner = [*owners_of(each.item, owners.get)][-1]
                of_pods.setdefault(owner, {})[name] = uses
            else:
                of_templates[each.item.kind, name] = uses
        # A ReplicaSet without pods is only the history of its Deployment.
        own_templates = [name for name in of_templates if name not in owners]
        for user in sorted({*own_templates, *of_pods}, key=_rank):
            # Of an owner that is not among the workloads, the template is not known.
            template = of_templates.get(user, () if user in workloads else None)
            yield _user(namespace, user, template, of_pods.get(user, {}))

    def _uses_of(self, candidate: _Candidate, namespace: str) -> tuple[Use, ...]:
        uses: list[Use] = []
        if namespace == self._namespace:
            for pod in candidate.pods:
                uses += uses_in(pod, self._kind, self._name)
        for sidecar in candidate.sidecars:
            if sidecar.selection.takes(*self._target, self._labels):
                uses.append(use_by_sidecar(sidecar))
        return tuple(use for use in uses if self._shows_the_key(use))

    def _shows_the_key(self, use: Use) -> bool:
        if not self._key:
            return True
        if use.usage in {Usage.PULL_SECRET.value, Usage.VOLUME_CREDENTIALS.value}:
            return False
        return use.keys is None or self._key in use.keys


def _user(
    namespace: str,
    name: OwnerName,
    template: tuple[Use, ...] | None,
    pods: Mapping[str, tuple[Use, ...]],
) -> User:
    kind, own_name = name
    uses = template or next(iter(pods.values()))
    return User(
        kind=kind,
        namespace=namespace,
        name=own_name,
        uses=uses,
        pods=() if kind == "Pod" else tuple(sorted(pods)),
        outdated=template == (),
    )


def _rank(name: OwnerName) -> tuple[bool, str, str]:
    kind, own_name = name
    return kind == "Pod", kind, own_name
