"""A sidecar at work: streams bring objects, one task writes their files, another one reloads.

Only the assembly: who owns which file is decided by ``file_owners``, what comes before what on disk
by ``publishing``, when to reload by ``owed_reloads``.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Collection, Mapping
from functools import partial
from typing import Final

from reflet.client.client import Client
from reflet.errors import ApiError, RefletError, TransportError
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.metrics import MetricText
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.runtime.tasks import TaskOwner
from reflet.runtime.threads import in_thread
from reflet.runtime.waits import came_within
from reflet.sidecar.downloads import Downloads, Fetched, retry_policy
from reflet.sidecar.file_owners import Owner, OwnerTable
from reflet.sidecar.files.publishing import Publisher, Unwritten
from reflet.sidecar.log_lines import logger
from reflet.sidecar.object_inbox import ObjectInbox
from reflet.sidecar.object_streams import ObjectStream
from reflet.sidecar.owed_reloads import ReloadCall
from reflet.sidecar.reload import Reloader
from reflet.sidecar.selected_objects import identity, selected
from reflet.sidecar.sidecar_health import CONTACT_LOST, SidecarFacts, SidecarPages
from reflet.sidecar.sidecar_page import SidecarPage
from reflet.sidecar.sidecar_settings import SidecarSettings
from reflet.sidecar.targets import (
    LAST_GOOD,
    REMEMBERED,
    Content,
    ObjectTargets,
    SidecarObject,
    targets_of,
)
from reflet.sidecar.web_login import checked_login, web_login
from reflet.transport.http.retry_series import Missed, RetrySeries
from reflet.transport.http.web_client import WebClient

PATIENCE: Final = 10.0
"""Seconds at the start in which no stream can be read because the server fails; then we end."""
DOWNLOAD_PATIENCE: Final = 30.0
"""Seconds at the start after which readiness no longer waits for downloads."""
FIRST_RETRY: Final = 5.0
LONGEST_RETRY: Final = 60.0
"""Seconds until a file that could not be written is tried again."""


class FilesUnwritten(RefletError):
    """METHOD=LIST is over, and some files are not what they should be."""


class Sidecar:
    """Keeps a folder equal to the objects that *settings* select, and reloads after changes.

    ::

        async with connect() as cluster:
            await Sidecar(settings, cluster, namespace=cluster.namespace).run()

    *namespace* is our own, where NAMESPACE names none.  *page* shows what is done.  Used by one
    event loop, and run once.
    """

    def __init__(
        self,
        settings: SidecarSettings,
        client: Client,
        *,
        namespace: str,
        clock: Clock | None = None,
        metrics: MetricText | None = None,
        page: SidecarPage | None = None,
    ) -> None:
        self._settings = settings
        self._page = page
        self._clock = clock = clock or SystemClock()
        self._metrics = metrics = metrics or MetricText()
        chosen = selected(settings, namespace)
        self._news = asyncio.Event()
        self._stream_news = asyncio.Event()
        self._inbox = ObjectInbox(chosen)
        self._table = OwnerTable()
        self._publisher = Publisher(settings, self._table, identity(chosen), clock=clock)
        self._streams = [
            ObjectStream(
                each,
                settings,
                client,
                partial(self._inbox.apply, rank),
                news=self._heard,
                clock=clock,
                metrics=metrics,
            )
            for rank, each in enumerate(chosen)
        ]
        web = WebClient(
            timeout=settings.req_timeout, insecure=settings.req_skip_tls_verify, clock=clock
        )
        login = partial(web_login, settings)
        self._tasks = TaskOwner("sidecar")
        self._downloads = Downloads(settings, web, self._tasks, login, clock=clock, metrics=metrics)
        self._reloader = Reloader(settings, web, login, clock=clock, metrics=metrics)
        self._permanent = PermanentTasks(clock=clock, on_end=self._stream_news.set)
        self._ready: dict[Owner, Mapping[str, Content]] = {}
        self._unwritten: dict[str, Unwritten] = {}
        self._contested: frozenset[str] = frozenset()
        self._is_started = False
        self._is_writing = False
        self._has_said_ready = False
        self._changed_at_start = False
        self._retries = Backoff(
            first=FIRST_RETRY, ceiling=LONGEST_RETRY, jitter=0.2, reset_after=None, clock=clock
        )
        self._download_until = math.inf
        self._retry_at: float | None = None
        self._resync_at: float | None = None

    @property
    def pages(self) -> SidecarPages:
        """What is answered about this sidecar."""
        return SidecarPages(self.facts, self._metrics)

    @property
    def is_at_rest(self) -> bool:
        """Whether all that came is on disk, and the application was told."""
        is_waiting = self._inbox or self._ready or self._downloads.pending or self._news.is_set()
        is_busy = self._is_writing or not self._reloader.is_at_rest
        return self._is_started and not is_waiting and not is_busy

    def facts(self) -> SidecarFacts:
        """What is known about the sidecar's health."""
        unwritten = [path for path, each in self._unwritten.items() if not each.is_own]
        files = None
        if unwritten:
            why = self._unwritten[unwritten[0]].why
            files = f"{len(unwritten)} cannot be written: {unwritten[0]}: {why}"
        return SidecarFacts(
            is_started=self._is_started,
            streams={
                str(each.objects): None if each.is_synced else str(each.failure or "not read yet")
                for each in self._streams
            },
            lost={
                str(each.objects): str(each.failure or "nothing came for long")
                if each.is_synced and not each.is_live(self._longest_silence)
                else None
                for each in self._streams
            },
            tasks=self._permanent.problems,
            files=files,
            reload=self._reloader.problem,
        )

    async def run(self) -> None:
        """Work until cancelled; with METHOD=LIST until everything is written once.

        Raises the error of the server when nothing can be read at the start, FilesUnwritten, and
        TaskEnded when a part has ended for good.
        """
        async with self._tasks:
            self._download_until = self._clock.monotonic() + DOWNLOAD_PATIENCE
            await self._remember()
            if self._settings.reads_once:
                await self._read_once()
                return
            for stream in self._streams:
                self._permanent.keep(self._tasks, stream.run, name=str(stream.objects))
            self._permanent.keep(self._tasks, self._reloader.run, name="reload")
            self._permanent.keep(self._tasks, self._write, name="files")
            await self._until_read()
            await self._until_begun()
            await self._permanent.ended()

    def _heard(self) -> None:
        self._news.set()
        self._stream_news.set()

    # Start

    async def _remember(self) -> None:
        """Put the files of the last life in the table, as far as their objects are followed."""
        entries = await in_thread(self._publisher.remember)
        claimed: dict[Owner, dict[str, Content]] = {}
        for path, entry in entries.items():
            owner = self._inbox.remember(entry.kind, entry.namespace, entry.name)
            if owner is not None:
                claimed.setdefault(owner, {})[path] = REMEMBERED
        for owner, contents in claimed.items():
            self._table.replace(owner, contents)

    async def _until_read(self) -> None:
        """Return when a stream is read; raise when at the start none can be.

        Whoever starts us will start us again.  One that can be read is enough: its files are
        written, and health says the rest.
        """
        began = self._clock.monotonic()
        retries = max(PATIENCE, RetrySeries(retry_policy(self._settings)).longest)
        while not any(each.is_synced for each in self._streams):
            if any(self._permanent.problems.values()):
                return
            left: float | None = None
            failures = [each.failure for each in self._streams if each.failure is not None]
            if len(failures) == len(self._streams):
                patience = _patience(failures, retries)
                left = patience - (self._clock.monotonic() - began)
                if left <= 0:
                    raise failures[0]
            self._stream_news.clear()
            await came_within(self._stream_news, left, clock=self._clock)

    async def _until_begun(self) -> None:
        """Return when the first files are written; raise when nobody can be told of them, ever.

        As for the original, credentials that cannot be encoded are a mistake when they are used.
        """
        while not self._is_started and not any(self._permanent.problems.values()):
            self._stream_news.clear()
            await self._stream_news.wait()
        self._check_login(is_skipped=self._settings.req_skip_init)

    def _check_login(self, *, is_skipped: bool = False) -> None:
        if self._changed_at_start and self._settings.req_url and not is_skipped:
            checked_login(self._settings)

    def _check_started(self) -> bool:
        """Whether everything that can be read now is written for the first time."""
        return (
            not self._is_started
            and any(each.is_synced for each in self._streams)
            and all(each.is_settled for each in self._streams)
            and not (self._inbox or self._ready)
            and (not self._downloads.pending or self._clock.monotonic() >= self._download_until)
        )

    async def _begin(self) -> None:
        await in_thread(self._publisher.finish_start)
        self._is_started = True
        self._stream_news.set()
        if self._settings.resync_every:
            self._resync_at = self._clock.monotonic() + self._settings.resync_every
        if self._changed_at_start:
            self._reloader.owe(is_initial=True)

    # Once

    async def _read_once(self) -> None:
        errors = await asyncio.gather(*map(self._read_stream, self._streams))
        while self._inbox or self._ready or self._downloads.pending:
            await self._take_news()
            if self._downloads.pending:
                await self._news.wait()
                self._news.clear()
        await in_thread(self._publisher.finish_start)
        if self._changed_at_start:
            await self._reloader.reload(ReloadCall(), is_last=True)
            self._check_login()
        for error in errors:
            if error is not None:
                raise error
        if self._unwritten:
            path, first = next(iter(self._unwritten.items()))
            count = len(self._unwritten)
            what = "1 file is" if count == 1 else f"{count} files are"
            raise FilesUnwritten(f"{what} not written: {path}: {first.why}")

    async def _read_stream(self, stream: ObjectStream) -> RefletError | None:
        series = RetrySeries(retry_policy(self._settings))
        while True:
            try:
                await stream.read_once()
            except TransportError as error:
                wait = series.wait_after(Missed.CONNECTION)
                if wait is None:
                    return error
                await self._clock.sleep(wait)
            except RefletError as error:
                return error
            else:
                return None

    # Files

    async def _write(self) -> None:
        self._news.set()  # a life before may have failed over what it had taken
        while True:
            await came_within(self._news, self._seconds_to_wait(), clock=self._clock)
            self._is_writing = True
            self._news.clear()
            await self._take_news()
            if self._check_started():
                await self._begin()
            await self._look_after()
            self._say_ready()
            self._is_writing = False

    async def _take_news(self) -> None:
        """Put what came into the table, and the table on disk."""
        for owner, found in self._inbox.take().items():
            logger.debug("Working on %s %s", "DELETED" if found is None else "CHANGED", owner)
            self._take(owner, found)
        is_one_by_one = self._is_started and not self._settings.reload_debounce
        while self._ready:
            paths: set[str] = set()
            for owner in tuple(self._ready)[: 1 if is_one_by_one else None]:
                paths |= self._table.replace(owner, self._ready.pop(owner))
            if paths:
                await self._publish(paths)
            self._tell_contested()

    def _take(self, owner: Owner, found: SidecarObject | None) -> None:
        if self._page is not None:
            self._page.came(owner, found)
        if found is None:
            self._downloads.forget(owner)
            self._ready[owner] = {}
            return
        targets = targets_of(found, owner.kind, self._settings)
        for key, why in targets.refused.items():
            logger.warning("%s: %r makes no file: %s", owner, key, why)
        self._downloads.fetch(owner, targets.downloads, partial(self._fetched, owner, targets))
        if not targets.downloads:
            self._ready[owner] = targets.contents

    def _fetched(self, owner: Owner, targets: ObjectTargets, fetched: Fetched) -> None:
        contents: dict[str, Content] = dict(targets.contents)
        for path, body in fetched.items():
            good = self._table.content(owner, path) if body is None else body
            contents[path] = good if isinstance(good, str | bytes) else LAST_GOOD
        self._ready[owner] = contents
        self._news.set()

    async def _publish(self, paths: Collection[str]) -> None:
        try:
            published = await in_thread(partial(self._publisher.publish, paths))
        except BaseException:
            # A machine without threads or memory must not make us forget.
            self._unwritten.update(dict.fromkeys(paths, Unwritten("not tried", is_own=False)))
            self._retry_at = self._clock.monotonic() + self._retries.next_delay()
            raise
        before = {path: self._unwritten.pop(path, None) for path in paths}
        self._unwritten.update(published.failed)
        for path, now in published.failed.items():
            if now != before[path]:
                logger.error("Error when updating %s: %s", path, now.why)
        if self._page is not None:
            self._page.wrote(published.changed, self._table, self._unwritten)
        if not self._unwritten:
            self._retry_at = None
            self._retries.reset()
        elif self._retry_at is None:
            self._retry_at = self._clock.monotonic() + self._retries.next_delay()
        if published.changed:
            self._metrics.count("reflet_sidecar_changed_files_total", len(published.changed))
            self._changed_at_start = True
            if self._is_started:
                self._reloader.owe()
        self._metrics.gauge("reflet_sidecar_files", len(self._table))
        self._metrics.gauge("reflet_sidecar_unwritten_files", len(self._unwritten))

    async def _look_after(self) -> None:
        """Try again what could not be written, and repair what somebody else has changed."""
        now = self._clock.monotonic()
        if self._retry_at is not None and now >= self._retry_at:
            self._retry_at = None
            await self._publish(tuple(self._unwritten))
        if self._resync_at is not None and now >= self._resync_at:
            touched = await in_thread(self._publisher.touched)
            self._resync_at = now + self._settings.resync_every
            for rank, _ in enumerate(self._streams):
                for owner in self._inbox.known(rank):
                    logger.debug("Looked at the files of %s", owner)
            if touched:
                await self._publish(touched)

    def _tell_contested(self) -> None:
        contested = frozenset(self._table.contested)
        for path in sorted(contested - self._contested):
            claim = self._table.wanted(path)
            if claim is not None:
                logger.warning("%s is wanted by several objects: %s has it", path, claim.owner)
        self._contested = contested
        self._metrics.gauge("reflet_sidecar_contested_files", len(contested))

    def _say_ready(self) -> None:
        if self._has_said_ready or not self._is_started:
            return
        facts = self.facts()
        if not facts.files and not any(facts.streams.values()):
            self._has_said_ready = True
            logger.info("Initial sync complete, sidecar is ready.")

    def _seconds_to_wait(self) -> float | None:
        now = self._clock.monotonic()
        times = [each for each in (self._retry_at, self._resync_at) if each is not None]
        # Once it is over, it is news alone that the start still waits for.
        if not self._is_started and now < self._download_until:
            times.append(self._download_until)
        return max(0.0, min(times) - now) if times else None

    @property
    def _longest_silence(self) -> float:
        return max(CONTACT_LOST, 2.0 * self._settings.sleep_time)


def _patience(failures: list[Exception], retries: float) -> float:
    """Seconds to bear that no stream can be read.

    None where the server means what it says: nobody may, it does not know us.  *retries* are for
    one that cannot be reached.
    """
    answers = [each.code for each in failures if isinstance(each, ApiError)]
    if len(answers) == len(failures) and all(400 <= each < 500 and each != 429 for each in answers):
        return 0.0
    return PATIENCE if answers else retries
