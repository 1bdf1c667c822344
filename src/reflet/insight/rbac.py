"""The least rights that reading a pod's configuration takes, or a sidecar, each with its reason.

``list`` and ``watch`` of one object work under ``resourceNames`` when the request selects it
by ``metadata.name``, which is how Reflet and the kubelet ask.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal

from msgspec import structs

from reflet.api.core.pods import Pod
from reflet.api.frozen import Frozen
from reflet.api.resources import BUILT_IN, CONFIG_MAPS, NODES, PODS, SECRETS, SERVICES, Resource
from reflet.insight.sidecars import SidecarSelection
from reflet.resolution.environment.service_variables import EVERYBODYS_SERVICE
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.references.references import config_map_names, secret_names, shows_node
from reflet.resolution.volumes.trust_bundles import GROUP as TRUST_GROUP
from reflet.resolution.volumes.trust_bundles import wants_trust_bundles

GROUP: Final = "rbac.authorization.k8s.io"
VERSION: Final = f"{GROUP}/v1"
USUAL_VERBS: Final = ("get", "list", "watch")

SubjectKind = Literal["User", "Group", "ServiceAccount"]


class Subject(Frozen, frozen=True, kw_only=True):
    """Who gets the rights; only service accounts have a namespace."""

    kind: SubjectKind
    name: str
    namespace: str = ""

    def document(self) -> dict[str, Any]:
        """Return the subject as a binding names it."""
        if self.kind == "ServiceAccount":
            return {"kind": self.kind, "name": self.name, "namespace": self.namespace}
        return {"apiGroup": GROUP, "kind": self.kind, "name": self.name}


class Rule(Frozen, frozen=True, kw_only=True):
    """One rule of a role, and the reason for it."""

    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    why: str
    group: str = ""
    names: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the rule as a role holds it."""
        document: dict[str, Any] = {
            "apiGroups": [self.group],
            "resources": list(self.resources),
            "verbs": list(self.verbs),
        }
        if self.names:
            document["resourceNames"] = list(self.names)
        return document


FORWARDING: Final = (
    Rule(
        resources=(SERVICES.plural,),
        verbs=("get",),
        why="--forward: a Service that a variable names; which ones is known only then",
    ),
    Rule(
        resources=(PODS.plural,),
        verbs=("list", "watch"),
        why="--forward: the ready pods behind a Service are chosen by labels",
    ),
    Rule(
        resources=("pods/portforward",),
        verbs=("get", "create"),
        why="--forward: connections to them; a server asks for get, create or both by its version",
    ),
)
"""What ``reflet run --forward`` needs besides, in each namespace with such Services."""


class Grant(Frozen, frozen=True, kw_only=True):
    """The rules for one namespace; those without a namespace hold in the whole cluster."""

    name: str
    rules: tuple[Rule, ...]
    namespace: str = ""
    subjects: tuple[Subject, ...] = ()

    @property
    def kind(self) -> str:
        """``Role``, or ``ClusterRole``."""
        return "Role" if self.namespace else "ClusterRole"

    def role(self) -> dict[str, Any]:
        """Return the role."""
        return {
            "apiVersion": VERSION,
            "kind": self.kind,
            "metadata": self._metadata(),
            "rules": [rule.document() for rule in self.rules],
        }

    def binding(self) -> dict[str, Any] | None:
        """Return what binds the role to its subjects, or ``None`` when there are none."""
        if not self.subjects:
            return None
        return {
            "apiVersion": VERSION,
            "kind": f"{self.kind}Binding",
            "metadata": self._metadata(),
            "roleRef": {"apiGroup": GROUP, "kind": self.kind, "name": self.name},
            "subjects": [subject.document() for subject in self.subjects],
        }

    def _metadata(self) -> dict[str, str]:
        return {"name": self.name} | ({"namespace": self.namespace} if self.namespace else {})


def grants_for(
    pods: Iterable[PodInputs],
    *,
    name: str = "",
    verbs: Sequence[str] = USUAL_VERBS,
    subjects: Iterable[Subject] = (),
    forward: bool = False,
) -> tuple[Grant, ...]:
    """Return the roles that let their subjects read what the pods need, and nothing else.

    ``verbs`` are those for ConfigMaps and Secrets; with list and watch, the pod or workload that
    names them may be followed, too, as ``reflet run`` does.  Service accounts without a namespace
    are those of the first pod's.  Without a name, that of the first pod is used.  With *forward*,
    Services of the pods' namespaces may be forwarded, as ``reflet run --forward`` does.
    """
    every = list(pods)
    if not every:
        return ()
    role = name or f"reflet-{every[0].name.rstrip('-')}"
    bound = tuple(_placed(subject, every[0].namespace) for subject in subjects)
    rules: dict[str, list[Rule]] = {}
    for namespace in dict.fromkeys(each.namespace for each in every):
        here = [each for each in every if each.namespace == namespace]
        rules[namespace] = [
            *_namespace_rules(here, tuple(verbs)),
            *(FORWARDING if forward else ()),
        ]
    everybodys_namespace, everybodys_name = EVERYBODYS_SERVICE
    if not any("services" in rule.resources for rule in rules.get(everybodys_namespace, ())):
        rules.setdefault(everybodys_namespace, []).append(
            Rule(
                resources=("services",),
                verbs=("get",),
                names=(everybodys_name,),
                why="every container is told the address of the API server",
            )
        )
    rules[""] = list(_cluster_rules(every))
    return tuple(
        Grant(name=role, namespace=namespace, rules=tuple(found), subjects=bound)
        for namespace, found in rules.items()
        if found
    )


def grants_for_sidecars(
    sidecars: Iterable[SidecarSelection],
    *,
    name: str,
    namespace: str,
    verbs: Sequence[str] = (),
    subjects: Iterable[Subject] = (),
) -> tuple[Grant, ...]:
    """Return the roles that let their subjects read what sidecars pick up, and nothing else.

    ``verbs`` are instead of those that each sidecar needs.  Service accounts without a namespace
    are those of *namespace*, where the sidecars run.
    """
    bound = tuple(_placed(subject, namespace) for subject in subjects)
    rules: dict[str, dict[tuple[tuple[str, ...], tuple[str, ...]], Rule]] = {}
    for selection in sidecars:
        for place in ("",) if selection.namespaces is None else selection.namespaces:
            for rule in _sidecar_rules(selection, place, tuple(verbs)):
                there = rules.setdefault(place, {})
                key = (rule.resources, rule.names)
                there[key] = _together(there.get(key), rule)
    return tuple(
        Grant(name=name, namespace=place, rules=tuple(found.values()), subjects=bound)
        for place, found in rules.items()
    )


def _sidecar_rules(
    selection: SidecarSelection, namespace: str, verbs: tuple[str, ...]
) -> Iterator[Rule]:
    if not selection.names:
        yield Rule(
            resources=tuple(sorted(_plural(kind) for kind in selection.kinds)),
            verbs=verbs or selection.verbs,
            why=f"a sidecar picks them up by {selection}; rights cannot be limited to a label",
        )
        return
    for kind in sorted(selection.kinds):
        names = _once(
            each.name
            for each in selection.names
            if each.kind in {"", kind.lower()} and each.namespace in {"", namespace}
        )
        if names:
            yield Rule(
                resources=(_plural(kind),),
                verbs=verbs or selection.verbs,
                names=names,
                why=f"the {kind}{'s' if len(names) > 1 else ''} that a sidecar picks up by name",
            )


def _plural(kind: str) -> str:
    return next(each.plural for each in (CONFIG_MAPS, SECRETS) if each.kind == kind)


def _together(first: Rule | None, second: Rule) -> Rule:
    """Return one rule for two sidecars that read the same."""
    if first is None or first == second:
        return second
    wanted = {*first.verbs, *second.verbs}
    why = second.why if second.why in first.why else f"{first.why}; {second.why}"
    return structs.replace(
        first, verbs=tuple(verb for verb in USUAL_VERBS if verb in wanted), why=why
    )


def _placed(subject: Subject, namespace: str) -> Subject:
    if subject.kind != "ServiceAccount" or subject.namespace:
        return subject
    return Subject(kind=subject.kind, name=subject.name, namespace=namespace)


def _namespace_rules(sources: list[PodInputs], verbs: tuple[str, ...]) -> Iterator[Rule]:
    pods = [source.pod for source in sources]
    named = (
        (CONFIG_MAPS, _once(name for pod in pods for name in config_map_names(pod))),
        (SECRETS, _once(name for pod in pods for name in secret_names(pod))),
    )
    for resource, names in named:
        if names:
            what = f"the {resource.kind}{'s' if len(names) > 1 else ''} that the pod names"
            yield Rule(resources=(resource.plural,), verbs=verbs, names=names, why=what)
    yield from _source_rules(sources, verbs)
    if any(pod.spec.enable_service_links is not False for pod in pods):
        yield Rule(
            resources=(SERVICES.plural,),
            verbs=("list",),
            why="variables of services: lists cannot be limited to names; "
            "enableServiceLinks: false does without",
        )
    accounts = _once(pod.spec.service_account_name or "default" for pod in pods if _uses_token(pod))
    if accounts:
        yield Rule(
            resources=("serviceaccounts/token",),
            verbs=("create",),
            names=accounts,
            why="a volume holds a token of the service account",
        )


def _source_rules(sources: list[PodInputs], verbs: tuple[str, ...]) -> Iterator[Rule]:
    by_resource: dict[Resource, dict[str, None]] = {}
    for source in sources:
        if source.pod.metadata.generate_name and source.kind == "Pod":
            continue  # its name is chosen when it is made
        resource = source.resource or _built_in(source.kind)
        by_resource.setdefault(resource, {})[source.name] = None
    for resource, names in by_resource.items():
        yield Rule(
            group=resource.group,
            resources=(resource.plural,),
            verbs=("get", *(verb for verb in verbs if verb != "get")),
            names=tuple(names),
            why="what refers to all the others",
        )


def _built_in(kind: str) -> Resource:
    return next(each for each in (PODS, *BUILT_IN) if each.kind == kind)


def _cluster_rules(sources: list[PodInputs]) -> Iterator[Rule]:
    nodes = _once(
        source.pod.spec.node_name
        for source in sources
        if source.pod.spec.node_name and shows_node(source.pod)
    )
    if nodes:
        yield Rule(
            resources=(NODES.plural,),
            verbs=("get",),
            names=nodes,
            why="variables or files show what the node has: limits that are not set, or addresses",
        )
    if any(wants_trust_bundles(source.pod) for source in sources):
        yield Rule(
            group=TRUST_GROUP,
            resources=("clustertrustbundles",),
            verbs=("list", "watch"),
            why="a volume holds trust anchors: which bundles they are in is chosen by labels",
        )


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(dict.fromkeys(names)))


def _uses_token(pod: Pod) -> bool:
    return any(
        source.service_account_token is not None
        for volume in pod.spec.volumes
        if volume.projected is not None
        for source in volume.projected.sources
    )
