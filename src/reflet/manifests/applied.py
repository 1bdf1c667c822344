"""The objects of files, read as if they had been applied to an empty cluster.

From texts to typed objects with their places, and what is said about those that are not among
them: refused by the server's rules, or of a kind that is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar, cast, final

from msgspec import structs

from reflet.api import codec
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.api.core.small_kinds import ServiceAccount
from reflet.api.meta import KubernetesObject
from reflet.api.unstructured import AnyObject
from reflet.api.yaml.text import PlacedValue, read_values
from reflet.apirules.schema.known_kinds import KindStanding, judged
from reflet.errors import ApiError, Cause, DecodeError
from reflet.insight.custom_workloads import Schemas, schemas_of, workload_in
from reflet.manifests.acceptance import Accepting, ObjectKey
from reflet.manifests.files import read_texts
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.templates import WORKLOADS, Workload
from reflet.resolution.trust_bundles import TrustBundle, is_trust_bundle, trust_bundle_of

if TYPE_CHECKING:
    from reflet.apirules.schema.served_kind import ServedKind

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class AppliedObject:
    """An object as the server would have it, and the file and line where it begins.

    ``line_of`` gives the line of one of its fields, where that is known.  ``workload`` is what
    makes pods: the object itself, or the templates of a custom resource.
    """

    place: str
    object: KubernetesObject
    line_of: Callable[[str], int] | None = field(default=None, compare=False, repr=False)
    workload: Workload | None = None


@final
@dataclass(frozen=True, slots=True)
class Refusal:
    """An object that the server would refuse, and its words, for each field if it says so."""

    place: str
    kind: str
    namespace: str
    name: str
    message: str
    causes: tuple[Cause, ...] = ()
    line_of: Callable[[str], int] | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.place}: the API server would refuse it: {self.message}"


@final
@dataclass(frozen=True, slots=True)
class Remark:
    """Something about an object of the files that its author may not expect."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@final
@dataclass(frozen=True, slots=True)
class AppliedManifests:
    """What a cluster would have after the files were applied to it.

    ``refusals`` are not among the ``objects``; ``remarks`` are about what was left out, and why.
    """

    objects: tuple[AppliedObject, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    remarks: tuple[Remark, ...] = ()

    def pods(self) -> tuple[Pod, ...]:
        """Return the pods."""
        return self._of(Pod)

    def workloads(self) -> tuple[Workload, ...]:
        """Return what makes pods from templates, custom resources included."""
        return tuple(item.workload for item in self.objects if item.workload is not None)

    def custom_objects(self) -> tuple[AnyObject, ...]:
        """Return the objects of kinds that are not Kubernetes' own."""
        return tuple(
            item
            for item in self._of(AnyObject)
            if judged(item.api_version, item.kind).standing is KindStanding.CUSTOM
        )

    def config_maps(self) -> tuple[ConfigMap, ...]:
        """Return the ConfigMaps."""
        return self._of(ConfigMap)

    def secrets(self) -> tuple[Secret, ...]:
        """Return the Secrets, ``stringData`` folded into ``data``."""
        return self._of(Secret)

    def services(self) -> tuple[Service, ...]:
        """Return the Services; those without an address in the files have none."""
        return self._of(Service)

    def nodes(self) -> tuple[Node, ...]:
        """Return the Nodes."""
        return self._of(Node)

    def service_accounts(self) -> tuple[ServiceAccount, ...]:
        """Return the ServiceAccounts."""
        return self._of(ServiceAccount)

    def untyped(self) -> tuple[AnyObject, ...]:
        """Return the objects of kinds that have no struct, custom resources included."""
        return self._of(AnyObject)

    def trust_bundles(self) -> tuple[TrustBundle, ...]:
        """Return the ClusterTrustBundles, of whichever version."""
        return tuple(
            trust_bundle_of(item)
            for item in self._of(AnyObject)
            if is_trust_bundle(item.api_version, item.kind)
        )

    def object_source(self) -> ObjectsInHand:
        """Return the ConfigMaps and Secrets as resolution wants them; others do not exist."""
        return ObjectsInHand((*self.config_maps(), *self.secrets()))

    def place_of(self, kind: str, namespace: str, name: str) -> str:
        """Return the file and line of an object; empty when it is not there."""
        for item in self.objects:
            found = item.object
            if (found.kind, found.metadata.namespace, found.metadata.name) == (
                kind,
                namespace,
                name,
            ):
                return item.place
        return ""

    def _of(self, kind: type[T]) -> tuple[T, ...]:
        return tuple(item.object for item in self.objects if isinstance(item.object, kind))


def read_applied(paths: Sequence[str], *, namespace: str = "default") -> AppliedManifests:
    """Read files, folders and ``-``, and take their objects for applied.

    ``namespace`` is that of objects which do not name one.  Raises ConfigurationError for files
    that cannot be read, and DecodeError, with file and line, for what cannot be an object.
    """
    reading = _Reading(namespace)
    for source, text in read_texts(paths):
        for placed in read_values(text, source=source):
            reading.take(source, placed)
    return reading.result()


@final
class _Reading:
    """The objects so far, each with its place; a later one of the same name replaces."""

    def __init__(self, namespace: str) -> None:
        self._accepting = Accepting(namespace)
        self._namespace = namespace
        self._objects: dict[ObjectKey | int, AppliedObject] = {}
        self._refusals: list[Refusal] = []
        self._remarks: list[Remark] = []

    def take(self, source: str, placed: PlacedValue) -> None:
        place = f"{source}:{placed.line}"
        try:
            kind = self._accepting.kind_of(placed.value)
        except DecodeError as error:
            raise DecodeError(f"{place}: {error}", path=error.path) from error
        if kind is None:
            if is_trust_bundle(placed.value["apiVersion"], placed.value["kind"]):
                self._take_as_it_is(source, placed)
                return
            name, version = placed.value["kind"], placed.value["apiVersion"]
            said = f"{name} of {version} is not a kind known here, so ignored"
            self._remarks.append(Remark(place, said))
            if judged(version, name).standing is KindStanding.CUSTOM:
                self._take_as_it_is(source, _in_namespace(placed, self._namespace))
            return
        try:
            key, stored = self._accepting.accept(kind, placed.value)
            made = cast("KubernetesObject", codec.decode_object(codec.encode(stored)))
        except DecodeError as error:
            raise _with_line(error, source, placed) from error
        except (UnicodeEncodeError, RecursionError):
            raise DecodeError(f"{place}: not valid Unicode text") from None
        except ApiError as error:
            self._refusals.append(self._refusal(place, kind, placed, error))
            return
        if isinstance(made, Service) and not made.spec.cluster_ip and made.spec.ports:
            self._remark_no_address(place, made)
        # A name that is only begun never meets another.
        self._objects[key if made.metadata.name else len(self._objects)] = AppliedObject(
            place, made, placed.line_of
        )

    def _take_as_it_is(self, source: str, placed: PlacedValue) -> None:
        """Take an object that only servers know which were told to."""
        try:
            item = AnyObject.from_dict(placed.value)
        except DecodeError as error:
            raise _with_line(error, source, placed) from error
        except (UnicodeEncodeError, RecursionError):
            raise DecodeError(f"{source}:{placed.line}: not valid Unicode text") from None
        kind = f"{item.kind} of {item.api_version.partition('/')[0]}"
        key = (kind, item.metadata.namespace, item.metadata.name)
        self._objects[key] = AppliedObject(f"{source}:{placed.line}", item, placed.line_of)

    def result(self) -> AppliedManifests:
        schemas = schemas_of(item.object for item in self._objects.values())
        objects = tuple(self._with_workload(item, schemas) for item in self._objects.values())
        taken = {item.place for item in objects if item.workload is not None}
        remarks = tuple(remark for remark in self._remarks if remark.place not in taken)
        return AppliedManifests(objects, tuple(self._refusals), remarks)

    def _with_workload(self, item: AppliedObject, schemas: Schemas) -> AppliedObject:
        found = item.object
        if isinstance(found, AnyObject):
            try:
                found = workload_in(found, schemas) or found
            except DecodeError as error:
                self._remarks.append(Remark(item.place, str(error)))
        return replace(item, workload=found) if isinstance(found, WORKLOADS) else item

    def _refusal(
        self, place: str, kind: ServedKind, placed: PlacedValue, error: ApiError
    ) -> Refusal:
        metadata = placed.value.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        name = metadata.get("name") or metadata.get("generateName") or ""
        namespace = (metadata.get("namespace") or self._namespace) if kind.namespaced else ""
        return Refusal(
            place,
            kind.kind,
            str(namespace),
            str(name),
            error.message,
            error.causes,
            placed.line_of,
        )

    def _remark_no_address(self, place: str, service: Service) -> None:
        if service.spec.type == "ExternalName":
            return
        metadata = service.metadata
        self._remarks.append(
            Remark(
                place,
                f"Service {metadata.namespace}/{metadata.name} has no clusterIP here: "
                "the cluster will choose one, so its variables are left out",
            )
        )


def _in_namespace(placed: PlacedValue, namespace: str) -> PlacedValue:
    """Return the object in the namespace of those that name none; most kinds have one."""
    metadata = placed.value.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("namespace"):
        return placed
    value = {**placed.value, "metadata": {**metadata, "namespace": namespace}}
    return structs.replace(placed, value=value)


def _with_line(error: DecodeError, source: str, placed: PlacedValue) -> DecodeError:
    """Return the error with the line it is about, if our own decoder can tell."""
    try:
        codec.decode_object(codec.encode(placed.value))
    except DecodeError as ours:
        return DecodeError(f"{source}:{placed.line_of(ours.path)}: {ours}", path=ours.path)
    except (UnicodeEncodeError, RecursionError):
        return DecodeError(f"{source}:{placed.line}: not valid Unicode text")
    return DecodeError(f"{source}:{placed.line}: {error}", path=error.path)
