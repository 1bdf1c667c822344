"""Changing objects on their way into memory, and objects that a function could not digest.

``Transform`` is client-go's TransformFunc.  ``LeftOut`` knows what a failing transform or index
function kept out, and that each version of it is logged and counted once.  In
client-go a TransformFunc that fails for one object fails the whole list, again and again; here it
costs that object alone.

Upstream: client-go/tools/cache/delta_fifo.go, TransformFunc
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Generic, Self, TypeVar

import msgspec

from reflet.api.meta import KubernetesObject
from reflet.api.unstructured import AnyObject
from reflet.runtime.metrics import NO_METRICS, Metrics

_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_MANAGED_FIELDS: Final = "managedFields"


T = TypeVar("T", bound=KubernetesObject)
Transform = Callable[[T], T]
"""What is done to an object before it is stored; doing it twice must change nothing more."""
KEYS_NAMED: Final = 5
"""Keys in one line of the log: a function that fails for every object must not fill it."""
logger = logging.getLogger(__name__)


def drop_managed_fields(item: AnyObject) -> AnyObject:
    """The object without its managed fields, often a third of its size, and else as it came.

    Typed objects have lost theirs when they were decoded and do not need this.  The object may
    still be written back: a server that gets no managed fields keeps those it has.

    - *item*: the object
    """
    data = item.to_json()
    if _MANAGED_FIELDS.encode() not in data:
        return item
    members = _MEMBERS.decode(data)
    metadata = _MEMBERS.decode(members["metadata"])
    if metadata.pop(_MANAGED_FIELDS, None) is None:
        return item  # the word stands elsewhere
    members["metadata"] = msgspec.Raw(msgspec.json.encode(metadata))
    return AnyObject(msgspec.json.encode(members))


class Transforming(Generic[T]):
    """A transform that anybody's objects can be given to.  Is a ``Transform``.

    An object that it cannot digest is left out, whatever was there before: its new state cannot
    be shown, and its old one would be shown as if it were the present one.  All others are
    unaffected.
    """

    def __init__(self, transform: Transform[T], *, resource: str, metrics: Metrics) -> None:
        self._transform = transform
        self._left_out = LeftOut(
            "store",
            "of the store, because the transform failed",
            resource=resource,
            metrics=metrics,
        )

    @classmethod
    def of(
        cls,
        transform: Transform[T] | None,
        *,
        resource: str = "store",
        metrics: Metrics = NO_METRICS,
    ) -> Transforming[T] | None:
        """*transform* with this rule, unless there is none or it has the rule already."""
        if transform is None or isinstance(transform, Transforming):
            return transform
        return cls(transform, resource=resource, metrics=metrics)

    def __call__(self, item: T) -> T:
        """The transformed object; raises what the transform raises."""
        made = self._transform(item)
        if getattr(made, "metadata", None) is None:
            raise TypeError(f"the transform gave no object but {type(made).__name__}")
        return made

    def digested(self, key: str, item: T) -> T | None:
        """The transformed object, None when it is left out."""
        try:
            made = self(item)
        except Exception as error:  # noqa: BLE001 - code of others; told
            self._left_out.add(key, item, error)
            return None
        if self._left_out.versions:
            self._left_out.discard(key)
        return made

    def last(self, key: str, item: T) -> T | None:
        """The transformed last state of an object that is gone, None where it cannot be had."""
        self._left_out.discard(key)
        try:
            return self(item)
        except Exception:  # noqa: BLE001 - code of others; what is gone is not left out
            return None

    def digested_list(self, items: Mapping[str, T]) -> dict[str, T]:
        """The transformed objects of a whole list, by key; what is not in it is forgotten."""
        self._left_out = self._left_out.anew()
        keyed = ((key, self.digested(key, item)) for key, item in items.items())
        return {key: made for key, made in keyed if made is not None}

    def tell(self) -> None:
        """Log and count what is left out since the last time."""
        self._left_out.tell()


class LeftOut:
    """What one place, the store or an index, does not have because a function failed.

    *place* is the label of the metric, *why* completes the sentence in the log, and *resource*
    says what the objects are, in both.  ``versions`` are the versions that failed, by key.
    ``tell`` logs and counts what is new, in one line however much that is; *told* is not.
    """

    __slots__ = ("_metrics", "_news", "_place", "_resource", "_told", "_why", "versions")

    def __init__(
        self,
        place: str,
        why: str,
        *,
        resource: str = "store",
        metrics: Metrics = NO_METRICS,
        told: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._place = place
        self._why = why
        self._resource = resource
        self._metrics = metrics
        self._told = told
        self._news: list[tuple[str, Exception]] = []
        self.versions: dict[str, str] = {}

    def anew(self) -> Self:
        """For the same place when all objects are replaced: what was told is not told again."""
        return type(self)(
            self._place,
            self._why,
            resource=self._resource,
            metrics=self._metrics,
            told=self.versions,
        )

    def add(self, key: str, item: object, error: Exception) -> None:
        """The object at *key* could not be digested."""
        version = getattr(getattr(item, "metadata", None), "resource_version", "")
        if self.versions.get(key, self._told.get(key)) != version:
            self._news.append((key, error))
        self.versions[key] = version

    def discard(self, key: str) -> None:
        """There is no such object at *key* any more."""
        self.versions.pop(key, None)

    def tell(self) -> None:
        """Log and count what is new."""
        self._told = {}
        if not self._news:
            return
        news, self._news = self._news, []
        keys = ", ".join(key for key, _ in news[:KEYS_NAMED])
        more = len(news) - KEYS_NAMED
        if more > 0:
            keys += f" and {more} more"
        _, error = news[0]
        logger.error(
            "%s: %s left out %s: %r", self._resource, keys, self._why, error, exc_info=error
        )
        self._metrics.count(
            "reflet_store_left_out_total", len(news), resource=self._resource, place=self._place
        )
