"""Objects that a function of the program could not digest.

Owns: which objects those are, and that each version of one is logged and counted once.  Must not
know what the functions make of objects.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Self

from reflet.runtime.metrics import NO_METRICS, Metrics

KEYS_NAMED: Final = 5
"""Keys in one line of the log: a function that fails for every object must not fill it."""

logger = logging.getLogger(__name__)


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
