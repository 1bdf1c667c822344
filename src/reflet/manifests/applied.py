"""The objects of files, as a cluster would have them after the files were applied to it.

With their places, and with what is said about those that are not among them: refused by the
server's rules, of a kind that no server has, or no manifests at all.  ``applying`` makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Final, TypeVar, final

import msgspec

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.api.core.small_kinds import ServiceAccount
from reflet.api.frozen import EMPTY
from reflet.api.meta import KubernetesObject
from reflet.api.unstructured import AnyObject
from reflet.apirules.schema.known_kinds import belongs_to_kubernetes, group_of
from reflet.errors import Cause
from reflet.manifests.manifest_documents import Skipped, skipped_summary
from reflet.resolution.references.placed_objects import ObjectsSeen, PlacedObject, PlacedObjects
from reflet.resolution.templates.templates import Workload
from reflet.resolution.volumes.trust_bundles import TrustBundle, is_trust_bundle, trust_bundle_of

_MOST_KINDS: Final = 5  # that one sentence names

T = TypeVar("T")


@final
class AppliedObject(msgspec.Struct, frozen=True):
    """An object as the server would have it, and the file and line where it begins.

    ``line_of`` gives the line of one of its fields, where that is known; ``folder`` is the folder
    in which the file was found, empty for one that was given by name.  ``workload`` is what makes
    pods: the object itself, or the templates of a custom resource.  ``is_changed`` tells whether a
    kustomization changes it, ``has_namespace`` whether the file names its namespace.
    """

    place: str
    object: KubernetesObject
    line_of: Callable[[str], int] | None = None
    folder: str = ""
    workload: Workload | None = None
    is_changed: bool = False
    has_namespace: bool = False


@final
class Refusal(msgspec.Struct, frozen=True):
    """An object that the server would refuse, and its words, for each field if it says so.

    ``object`` is what was written, if it can be read at all.  A file that cannot be has no kind.
    """

    place: str
    kind: str
    namespace: str
    name: str
    message: str
    causes: tuple[Cause, ...] = ()
    line_of: Callable[[str], int] | None = None
    fix: str = ""
    annotations: Mapping[str, str] = EMPTY
    object: KubernetesObject | None = None

    def __str__(self) -> str:
        advice = f" ({self.fix})" if self.fix else ""
        return f"{self.place}: the API server would refuse it: {self.message}{advice}"


@final
class Duplicate(msgspec.Struct, frozen=True):
    """An object that stands twice among what is named, or in one folder; the later one counts."""

    earlier: AppliedObject
    later: AppliedObject


@final
class Remark(msgspec.Struct, frozen=True):
    """Something about an object of the files that its author may not expect."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@final
class AppliedManifests(msgspec.Struct, frozen=True, dict=True):
    """What a cluster would have after the files were applied to it.

    ``refusals`` are not among the ``objects``; ``remarks`` are about objects that are.
    ``duplicates`` stand twice, ``repeated_keys`` are keys that do.  ``skipped`` files are no
    manifests, ``unchecked`` counts the objects of kinds that nothing is known of, which are among
    the objects as they are, and ``made`` are kinds and names of objects that kustomizations make.
    """

    objects: tuple[AppliedObject, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    remarks: tuple[Remark, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    repeated_keys: tuple[Remark, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    unchecked: Mapping[str, int] = EMPTY
    made: frozenset[tuple[str, str]] = frozenset()

    @property
    def left_out(self) -> tuple[str, ...]:
        """Sentences about what was not read and what was not checked."""
        return tuple(filter(None, (skipped_summary(self.skipped), self._unchecked_summary())))

    def _unchecked_summary(self) -> str:
        total, kinds = sum(self.unchecked.values()), list(self.unchecked)
        if not total:
            return ""
        more = len(kinds) - _MOST_KINDS
        named = ", ".join(kinds[:_MOST_KINDS]) + (f" and {more} more" if more > 0 else "")
        objects = "1 object" if total == 1 else f"{total} objects"
        of_kinds = "1 kind" if len(kinds) == 1 else f"{len(kinds)} kinds"
        return f"{objects} of {of_kinds} {'was' if total == 1 else 'were'} not checked: {named}"

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
            if not belongs_to_kubernetes(group_of(item.api_version))
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

    @cached_property
    def configurations(self) -> PlacedObjects:
        """The ConfigMaps and Secrets, each with its place."""
        return PlacedObjects(
            PlacedObject(item.place, item.object)
            for item in self.objects
            if isinstance(item.object, ConfigMap | Secret)
        )

    def object_source(self, place: str = "") -> ObjectsSeen:
        """Return the ConfigMaps and Secrets as a pod at a place means them; others do not exist."""
        return self.configurations.seen_from(place)

    def _of(self, kind: type[T]) -> tuple[T, ...]:
        return tuple(item.object for item in self.objects if isinstance(item.object, kind))
