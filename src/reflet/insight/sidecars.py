"""Containers that pick up ConfigMaps and Secrets by label: k8s-sidecar, and ``reflet sidecar``.

No pod names what such a container shows: its environment says which labels, kinds and namespaces
it selects, and where the files go.  A container is taken for one that has

- an image called ``k8s-sidecar`` or ``reflet-sidecar``, of any registry, or ``reflet sidecar`` as
  its command, or
- both LABEL and FOLDER in its environment, the one a label selector, the other an absolute path,
  as far as they are known.

Either way it needs LABEL and FOLDER, without which it ends at once.  What a variable holds that
comes from an object that is not at hand, or from a Secret, is not known.  ``reflet sidecar`` takes
variables as flags too, which win: ``--label-value=1``.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from msgspec import structs

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.api.frozen import Frozen
from reflet.api.selectors.labels import LabelSelector
from reflet.errors import ParseError, RefletError
from reflet.resolution.environment.environment import resolve_environment
from reflet.resolution.objects import ConfigKind, ObjectSource
from reflet.resolution.places import Place, PlacedContainer, PodLike, containers_of
from reflet.resolution.pod_inputs import ONLY_THE_POD
from reflet.resolution.references.references import Reference, Usage
from reflet.resolution.templates.templates import Workload, templates_of

FOLDER_ANNOTATION: Final = "k8s-sidecar-target-directory"
"""The annotation that names the folder of an object's files, unless FOLDER_ANNOTATION does."""
EVERYWHERE: Final = "ALL"
KINDS: Final[Mapping[str, tuple[ConfigKind, ...]]] = {
    "configmap": ("ConfigMap",),
    "secret": ("Secret",),
    "both": ("Secret", "ConfigMap"),
}
"""What RESOURCE may be."""

_IMAGE: Final = re.compile(r"(?:^|/)(?:k8s-sidecar|reflet-sidecar)(?:[:@]|$)")
_REFLET: Final = re.compile(r"(?:^|/)reflet(?:[:@]|$)")
_NEEDED: Final = ("LABEL", "FOLDER")
_SELECTING: Final = ("LABEL", "LABEL_VALUE", "RESOURCE", "NAMESPACE", "RESOURCE_NAME")
_READ: Final = (*_SELECTING, "FOLDER", "FOLDER_ANNOTATION", "UNIQUE_FILENAMES", "METHOD")
_URL: Final = ".url"
# Labels that charts and tools put on whatever they make.
_EVERYBODYS_LABELS: Final = frozenset(
    {"app", "chart", "component", "heritage", "k8s-app", "name", "release", "tier", "version"}
)
_EVERYBODYS_PREFIX: Final = re.compile(
    r"^([^/]*\.)?(kubernetes\.io|k8s\.io|helm\.sh|argoproj\.io)/"
)


class NameEntry(NamedTuple):
    """One entry of RESOURCE_NAME; an empty namespace or kind is any that is selected."""

    namespace: str
    kind: str
    name: str


class SidecarSelection(Frozen, frozen=True, kw_only=True):
    """What the variables of a sidecar select, and where its files go.

    ``label`` is the selector as the server is asked, ``namespaces`` are ``None`` for all of them.
    With ``names``, those objects are read whatever their labels.  ``unknown`` are the variables
    whose values are not known: what they would rule out is then selected.  ``once``: the objects
    are read once, at the start; ``polls``: again and again, and not watched.
    """

    kinds: tuple[ConfigKind, ...]
    label: str
    selector: LabelSelector
    namespaces: tuple[str, ...] | None
    names: tuple[NameEntry, ...] = ()
    folder: str = ""
    folder_annotation: str = FOLDER_ANNOTATION
    unique_filenames: bool = False
    once: bool = False
    polls: bool = False
    unknown: tuple[str, ...] = ()

    @property
    def certain(self) -> bool:
        """Whether every variable is known that says what is selected."""
        return not set(self.unknown).intersection(_SELECTING)

    @property
    def verbs(self) -> tuple[str, ...]:
        """What it must be allowed to do with the objects."""
        if self.once or self.polls:
            return ("get",) if self.names else ("list",)
        return ("get", "list", "watch") if self.names else ("list", "watch")

    def reaches(self, kind: str, namespace: str) -> bool:
        """Whether objects of the kind in the namespace are looked at."""
        return kind in self.kinds and (self.namespaces is None or namespace in self.namespaces)

    def takes(self, kind: str, namespace: str, name: str, labels: Mapping[str, str] | None) -> bool:
        """Whether an object is picked up; ``None`` for labels that are not known."""
        if not self.reaches(kind, namespace):
            return False
        if self.names:
            return any(
                each.name == name
                and each.kind in {"", kind.lower()}
                and each.namespace in {"", namespace}
                for each in self.names
            )
        if not labels:  # nobody means those that have no label
            return False
        return self.selector.matches(labels)

    def folder_of(self, item: ConfigMap | Secret) -> str:
        """Return the folder of an object's files, as short as it can be."""
        given = item.metadata.annotations.get(self.folder_annotation, "")
        return posixpath.normpath(posixpath.join(self.folder, given))

    def file_of(self, item: ConfigMap | Secret, key: str) -> str:
        """Return the path of the file that a key becomes."""
        name = key.removesuffix(_URL)
        if self.unique_filenames:
            metadata = item.metadata
            owner = f"namespace_{metadata.namespace}.{item.kind.lower()}_{metadata.name}"
            name = f"{owner}.{name}"
        return posixpath.join(self.folder_of(item), name)

    def __str__(self) -> str:
        if self.names:
            return "names " + ", ".join("/".join(filter(None, each)) for each in self.names)
        words = [f"label {self.label}"] if self.label else []
        unknown = [name for name in self.unknown if name in _SELECTING]
        return ", ".join([*words, *(f"{name} not known" for name in unknown)])


class SidecarContainer(Frozen, frozen=True, kw_only=True):
    """A container that picks up objects, and which."""

    place: Place
    selection: SidecarSelection


def sidecars_of(
    pod: PodLike, namespace: str, objects: ObjectSource | None = None
) -> Iterator[SidecarContainer]:
    """Yield the containers of a pod or template, in its namespace, that pick up objects by label.

    ``objects`` are those that are at hand, for variables that come from them.
    """
    for placed in containers_of(pod.spec):
        if _may_be_one(namespace, placed.container, objects):
            values, unknown = _variables(_as_pod(pod, namespace), placed, objects)
            selection = selection_of(values, own_namespace=namespace, unknown=unknown)
            if isinstance(selection, SidecarSelection) and (
                _is_called_so(placed.container) or _looks_like_one(selection)
            ):
                yield SidecarContainer(place=placed.place(), selection=selection)


def feeds_sidecar(pod: Pod, reference: Reference) -> bool:
    """Tell whether a variable of a sidecar that says what it selects comes from an object."""
    if reference.usage is not Usage.ENV_FROM and reference.place.variable not in _READ:
        return False
    return any(
        placed.container.name == reference.place.container
        and _may_be_one(pod.metadata.namespace, placed.container, None)
        for placed in containers_of(pod.spec)
    )


POD_AND_SIDECARS: Final = structs.replace(ONLY_THE_POD, references=feeds_sidecar)
"""For whoever looks at the pod, and at what tells its sidecars what to select."""


def has_sidecar(workload: Workload) -> bool:
    """Tell whether pods of a workload may pick up objects by label."""
    namespace = workload.metadata.namespace
    return any(
        True for each in templates_of(workload) for _ in sidecars_of(each.template, namespace)
    )


def may_be_selected(labels: Mapping[str, str]) -> bool:
    """Tell whether an object has a label that is there for a sidecar, and not for everybody."""
    return any(
        name not in _EVERYBODYS_LABELS and not _EVERYBODYS_PREFIX.search(name) for name in labels
    )


def selection_of(
    variables: Mapping[str, str], *, own_namespace: str, unknown: frozenset[str] = frozenset()
) -> SidecarSelection | str:
    """Return what variables select, or why a sidecar with them would select nothing.

    The namespace is that of the sidecar's pod, for one that names none.
    """
    for name in _NEEDED:
        if not variables.get(name) and name not in unknown:
            return f"{name} is not set"
    kinds = KINDS.get(variables.get("RESOURCE", "configmap"))
    if kinds is None:
        return f"RESOURCE must be one of {', '.join(KINDS)}, not {variables['RESOURCE']!r}"
    label, value = variables.get("LABEL", ""), variables.get("LABEL_VALUE", "")
    text = f"{label}={value}" if label and value else label
    namespaces = _namespaces(variables.get("NAMESPACE", ""), own_namespace)
    try:
        selector = LabelSelector.parse(text)
        names = tuple(_names(variables.get("RESOURCE_NAME", "")))
    except ParseError as error:
        return str(error)
    return SidecarSelection(
        kinds=KINDS["both"] if "RESOURCE" in unknown else kinds,
        label=text,
        selector=selector,
        namespaces=None if "NAMESPACE" in unknown else namespaces,
        # All namespaces are watched by label alone.
        names=() if namespaces is None else names,
        folder=variables.get("FOLDER", ""),
        folder_annotation=variables.get("FOLDER_ANNOTATION") or FOLDER_ANNOTATION,
        unique_filenames=variables.get("UNIQUE_FILENAMES", "").lower() == "true",
        once=variables.get("METHOD") == "LIST",
        polls=variables.get("METHOD") == "SLEEP",
        unknown=tuple(name for name in _READ if name in unknown),
    )


def _namespaces(text: str, own: str) -> tuple[str, ...] | None:
    every = [part.strip() for part in text.split(",") if part.strip()] or [own]
    return None if EVERYWHERE in every else tuple(dict.fromkeys(every))


def _names(text: str) -> Iterator[NameEntry]:
    for entry in (part.strip() for part in text.split(",")):
        if not entry:
            continue
        *above, name = entry.split("/")
        kind = above.pop() if above else ""
        namespace = above.pop() if above else ""
        if above or not name or kind not in {"", "configmap", "secret"}:
            raise ParseError(f"{entry!r} is none of NAME, KIND/NAME and NAMESPACE/KIND/NAME")
        yield NameEntry(namespace, kind, name)


def _is_called_so(container: Container) -> bool:
    words = (*container.command, *container.args)
    if words[:2] == ("reflet", "sidecar"):
        return True
    if _REFLET.search(container.image) and not container.command:
        return words[:1] == ("sidecar",)
    return _IMAGE.search(container.image) is not None


def _looks_like_one(selection: SidecarSelection) -> bool:
    return selection.folder.startswith("/") or "FOLDER" in selection.unknown


def _as_pod(pod: PodLike, namespace: str) -> Pod:
    if isinstance(pod, Pod):
        return pod
    return Pod(metadata=structs.replace(pod.metadata, namespace=namespace), spec=pod.spec)


def _may_be_one(namespace: str, container: Container, objects: ObjectSource | None) -> bool:
    """Tell by names alone, so that few environments are resolved."""
    if _is_called_so(container):
        return True
    names = {variable.name for variable in container.env}
    if objects is not None and container.env_from and not names.issuperset(_NEEDED):
        for source in container.env_from:
            found: ConfigMap | Secret | RefletError | None = None
            if source.config_map_ref is not None:
                found = objects.config_map(namespace, source.config_map_ref.name)
            if isinstance(found, ConfigMap):
                names |= {f"{source.prefix}{key}" for key in found.data}
    return names.issuperset(_NEEDED)


def _variables(
    pod: Pod, placed: PlacedContainer, objects: ObjectSource | None
) -> tuple[dict[str, str], frozenset[str]]:
    """Return the variables that are known, and the names of those that are not."""
    environment = resolve_environment(pod, placed.container.name, objects or _NothingAtHand())
    known: dict[str, str] = {}
    unknown: set[str] = set()
    for name, variable in environment.variables.items():
        if variable.assignment.known and not variable.sensitive:
            known[name] = variable.value
        else:
            unknown.add(name)
    for problem in environment.problems:
        place = problem.place
        if not problem.blocking:
            continue
        if place.variable:
            known.pop(place.variable, None)
            unknown.add(place.variable)
        elif ".envFrom[" in place.path:
            unknown |= {name for name in _READ if name not in known}
    for name, value in _flags(placed.container):
        if "$(" in value:  # an expansion, of whatever
            known.pop(name, None)
            unknown.add(name)
        else:
            known[name] = value
            unknown.discard(name)
    return known, frozenset(unknown)


def _flags(container: Container) -> Iterator[tuple[str, str]]:
    """Yield the variables that the flags of a sidecar stand for."""
    if not _is_called_so(container):
        return
    words = iter((*container.command, *container.args))
    for word in words:
        flag, equals, value = word.partition("=")
        name = flag.removeprefix("--").upper().replace("-", "_")
        if not flag.startswith("--") or name not in _READ:
            continue
        if name == "UNIQUE_FILENAMES":
            yield name, "true"
        else:
            yield name, value if equals else next(words, "")


class _NothingAtHand:
    """Knows no object: what comes from one is not known."""

    def config_map(self, _namespace: str, name: str, /) -> ConfigMap | RefletError:
        return RefletError(f"ConfigMap {name} was not read")

    def secret(self, _namespace: str, name: str, /) -> Secret | RefletError:
        return RefletError(f"Secret {name} was not read")
