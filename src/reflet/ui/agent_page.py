"""The page of a program that delivers configuration itself, with the times at which it did.

Such a program sees objects without the fields that say who wrote them when, and need not ask: what
its containers have they have from it.  So what has not changed since it began is current.
"""

from __future__ import annotations

import os
import secrets
from datetime import datetime
from pathlib import Path
from typing import Self

from reflet.api.codec import encode
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.unstructured import AnyObject
from reflet.insight.page.page_document import PageDocument, PageKind, PageWorkload
from reflet.insight.stale.object_history import PROMPT
from reflet.resolution.objects import ConfigKind, ObjectKey
from reflet.resolution.references.references import Usage, references_of
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.tasks import Failure
from reflet.ui.board import Board
from reflet.ui.page import Page


class AgentPage:
    """The page of *title* at a loopback port while the context is open.

    The token is in *token_file*, which only this user can read: a log is no place for it.
    """

    def __init__(
        self,
        title: str,
        kind: PageKind,
        *,
        port: int,
        token_file: Path,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        # A container that was started a moment ago has what was there then.
        self._since = self._clock.now() - 2 * PROMPT
        self.token_file = token_file
        self._board = Board(title, kind, salt=secrets.token_bytes(16), began=self._since)
        self._page = Page(self._board, port=port, clock=self._clock)
        self._last: dict[ObjectKey, AnyObject] = {}

    @property
    def url(self) -> str:
        """Where the page is, without its token."""
        return self._page.url.partition("#")[0]

    def document(self) -> PageDocument:
        """All of the page, now."""
        return self._page.document()

    async def __aenter__(self) -> Self:
        _write_private(self.token_file, self._page.token)
        await self._page.__aenter__()
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        try:
            await self._page.__aexit__(*failure)
        finally:
            self.token_file.unlink(missing_ok=True)

    def put_pod(self, pod: Pod) -> None:
        """A pod is there, or has changed."""
        self._board.put_pod(_key(pod), self._board.brief_pod(pod))
        self._page.changed()

    def drop_pod(self, pod: Pod) -> None:
        """A pod is gone."""
        self._board.drop_pod(_key(pod))
        self._page.changed()

    def put_workload(self, page: PageWorkload) -> None:
        """A workload of which the program knows what arrives there."""
        self._board.put_workload(page)
        self._page.changed()

    def wrote(self, key: ObjectKey, what: str) -> None:
        """A file of an object was just written."""
        self._board.wrote(key, what, at=self._clock.now())
        self._page.changed()

    def put_object(
        self, kind: ConfigKind, namespace: str, name: str, item: ConfigMap | Secret | None
    ) -> None:
        """An object is there, or has changed; None when it does not exist."""
        key: ObjectKey = (kind, namespace, name)
        before = self._last.pop(key, None)
        now = None if item is None else self._board.briefs(AnyObject(encode(item)))
        if now is not None:
            self._last[key] = now
        if before is not None:
            self._board.change_object(*key, before, now, at=self._clock.now())
        elif now is not None:
            self._board.put_object(now, at=self._since)
        self._page.changed()

    def delivered(self, pod: Pod, volumes: frozenset[str]) -> None:
        """The files of these volumes of a pod were just written."""
        at: datetime = self._clock.now()
        for reference in references_of(pod):
            if reference.usage is Usage.VOLUME and reference.place.volume in volumes:
                key: ObjectKey = (reference.kind, pod.metadata.namespace, reference.name)
                what = f"{pod.metadata.name}/{reference.place.volume}"
                self._board.delivered(pod, key, what, at=at)
        self._page.changed()


def _key(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o600), "w") as file:
        file.write(f"{text}\n")
