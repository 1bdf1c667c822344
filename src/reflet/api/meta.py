"""What every Kubernetes object has: its metadata, and how objects point at each other.

ObjectMeta, ListMeta, owner references, label selectors as data, conditions, object references,
and the API's times.

Upstream: apimachinery/pkg/apis/meta/v1/types.go, time.go and micro_time.go
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Final, Literal, Protocol, Self

import msgspec
from msgspec import structs

from reflet.api.frozen import EMPTY, Frozen, constant

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation in which kubectl keeps the whole object, a Secret's values included."""


Time = Annotated[datetime, msgspec.Meta(tz=True)]
"""An RFC 3339 time with its zone: metav1.Time."""


class MicroTime(datetime):
    """metav1.MicroTime: a ``datetime`` with a zone that keeps its microseconds when written.

    Leases and events refuse ``…:05Z`` where they want ``…:05.000000Z``.
    """

    @classmethod
    def at(cls, moment: datetime) -> Self:
        """Return the same moment, in UTC; a moment without a zone is refused.

        - *moment*: the moment, with its time zone
        """
        if moment.tzinfo is None:
            raise ValueError("a time without a time zone")
        moment = moment.astimezone(UTC)
        return cls.combine(moment.date(), moment.timetz())

    @classmethod
    def parse(cls, text: object) -> Self:
        """Read an RFC 3339 time with any number of digits; raise ``ValueError`` for others.

        - *text*: what the JSON has
        """
        try:
            moment: datetime = msgspec.convert(text, Time)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from error
        return cls.at(moment)

    def text(self) -> str:
        """Return the time as the API server wants it: ``2026-01-02T03:04:05.000000Z``."""
        moment = self.astimezone(UTC).replace(tzinfo=None)
        return moment.isoformat(timespec="microseconds") + "Z"


class Hidden:
    """Stands in a representation for a value that must not be shown."""

    __slots__ = ("_text",)

    def __init__(self, what: str, size: int) -> None:
        self._text = f"‹{what} {size} B›"

    def __repr__(self) -> str:
        return self._text


class OwnerReference(Frozen, frozen=True, kw_only=True):
    """The object that this one is deleted with."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(Frozen, frozen=True, kw_only=True):
    """Metadata of an object: every field of metav1.ObjectMeta except ``managedFields``.

    ``name`` is empty only in templates, bookmarks and requests that use ``generate_name``.
    """

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    deletion_grace_period_seconds: int | None = None
    labels: Mapping[str, str] = EMPTY
    annotations: Mapping[str, str] = EMPTY
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    self_link: str = ""

    def _presentable(self) -> "ObjectMeta":
        applied = self.annotations.get(LAST_APPLIED)
        if applied is None:
            return self
        hidden: Any = Hidden("last applied", len(applied))
        return structs.replace(self, annotations={**self.annotations, LAST_APPLIED: hidden})

    def __repr__(self) -> str:
        return Frozen.__repr__(self._presentable())

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return Frozen.__rich_repr__(self._presentable())


class ListMeta(Frozen, frozen=True, kw_only=True):
    """Metadata of a list: the version it shows, and the token of its next page."""

    resource_version: str = ""
    continue_: str = ""
    remaining_item_count: int | None = None
    self_link: str = ""


class LabelSelectorRequirement(Frozen, frozen=True, kw_only=True):
    """One expression of a label selector: In, NotIn, Exists or DoesNotExist."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Frozen, frozen=True, kw_only=True):
    """A label selector as objects carry it; all of its parts must match."""

    match_labels: Mapping[str, str] = EMPTY
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class Condition(Frozen, frozen=True, kw_only=True):
    """One condition of a status: the fields of every kind's conditions together."""

    type: str = ""
    status: str = ""
    observed_generation: int = 0
    last_heartbeat_time: Time | None = None
    last_probe_time: Time | None = None
    last_transition_time: Time | None = None
    last_update_time: Time | None = None
    reason: str = ""
    message: str = ""


class LocalObjectReference(Frozen, frozen=True, kw_only=True):
    """An object of the same namespace, by name."""

    name: str = ""


class ObjectReference(Frozen, frozen=True, kw_only=True):
    """Any object, or a part of one."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    resource_version: str = ""
    field_path: str = ""


class KubernetesObject(Protocol):
    """What generic code may ask of any object, typed or not."""

    @property
    def api_version(self) -> str:
        """``v1``, or ``group/version``."""

    @property
    def kind(self) -> str:
        """``ConfigMap``."""

    @property
    def metadata(self) -> ObjectMeta:
        """The object's metadata."""


class TypedObject(Frozen, frozen=True, kw_only=True):
    """Base of the structs that are whole objects, with ``api_version``, ``kind``, ``metadata``.

    ``complete`` says that the struct keeps every field that the API has (managed fields aside),
    so that an object which was read may be written back whole.
    """

    complete: ClassVar[bool] = False


class PartialObjectMetadata(TypedObject, frozen=True, kw_only=True):
    """An object of any kind of which only the metadata was asked for."""

    api_version: Literal["meta.k8s.io/v1"] = constant("meta.k8s.io/v1")
    kind: Literal["PartialObjectMetadata"] = constant("PartialObjectMetadata")
    metadata: ObjectMeta = ObjectMeta()
