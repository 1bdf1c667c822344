"""What ``.url`` keys name, downloaded once for each version of their object.

A download that fails is tried again later, and again, until it succeeds; meanwhile its file stays
what it was.  Deciding when is here, so that files and readiness never wait for a server that is
slow: see ``Downloads.fetch``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from reflet.errors import TransportError
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import Metrics
from reflet.runtime.tasks import TaskOwner
from reflet.sidecar.file_owners import Owner
from reflet.sidecar.log_lines import logger
from reflet.sidecar.sidecar_settings import SidecarSettings
from reflet.sidecar.targets import Download
from reflet.transport.http.retry_series import RetryPolicy
from reflet.transport.http.web_client import (
    RetriesExceeded,
    WebAnswer,
    WebClient,
    WebRequest,
    shown_address,
)

SERVER_ERRORS: Final = frozenset({500, 502, 503, 504})
FIRST_PAUSE: Final = 30.0
LONGEST_PAUSE: Final = 300.0
AT_ONCE: Final = 8
"""Downloads that run at the same time."""
SHOWN_BODY: Final = 200  # characters of a refusal, in the log for debugging

Fetched = Mapping[str, str | bytes | None]
"""What was downloaded, by path; None for what could not be."""


def retry_policy(settings: SidecarSettings) -> RetryPolicy:
    """How often requests of this sidecar are tried again."""
    return RetryPolicy(
        total=settings.req_retry_total,
        connect=settings.req_retry_connect,
        read=settings.req_retry_read,
        factor=settings.req_retry_backoff_factor,
        statuses=frozenset() if settings.enable_5xx else SERVER_ERRORS,
    )


class Downloads:
    """The downloads of every object; *login* is asked for user and password each time.

    ``pending`` are the objects whose first round is not over.
    """

    def __init__(
        self,
        settings: SidecarSettings,
        web: WebClient,
        tasks: TaskOwner,
        login: Callable[[], tuple[bytes, bytes] | None],
        *,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self.pending: set[Owner] = set()
        self._settings = settings
        self._policy = retry_policy(settings)
        self._web = web
        self._tasks = tasks
        self._login = login
        self._clock = clock
        self._metrics = metrics
        self._running: dict[Owner, asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(AT_ONCE)

    def fetch(
        self,
        owner: Owner,
        wanted: Mapping[str, Download],
        came: Callable[[Fetched], None],
    ) -> None:
        """Download what an object wants now, in the background, instead of what it wanted before.

        *came* is called after every round: the first, those that try again what failed, and those
        of URL_REFRESH_INTERVAL.
        """
        self.forget(owner)
        if wanted:
            self.pending.add(owner)
            self._running[owner] = self._tasks.start(
                self._rounds(owner, wanted, came), name=f"downloads of {owner}"
            )

    def forget(self, owner: Owner) -> None:
        """Nobody wants the downloads of an object any more."""
        self.pending.discard(owner)
        task = self._running.pop(owner, None)
        if task is not None:
            task.cancel()

    async def _rounds(
        self,
        owner: Owner,
        wanted: Mapping[str, Download],
        came: Callable[[Fetched], None],
    ) -> None:
        fetched: dict[str, str | bytes | None] = {}
        waits = Backoff(
            first=FIRST_PAUSE,
            ceiling=LONGEST_PAUSE,
            jitter=0.2,
            reset_after=None,
            clock=self._clock,
        )
        missing = dict(wanted)
        while True:
            results = await asyncio.gather(
                *(self._one_or_none(owner, path, each) for path, each in missing.items())
            )
            fetched.update(zip(missing, results, strict=True))
            self.pending.discard(owner)
            came(dict(fetched))
            missing = {path: wanted[path] for path, each in fetched.items() if each is None}
            if missing:
                await self._clock.sleep(waits.next_delay())
            elif self._settings.url_refresh_interval:
                waits.reset()
                await self._clock.sleep(self._settings.url_refresh_interval)
                missing = dict(wanted)
            else:
                return

    async def _one_or_none(self, owner: Owner, path: str, wanted: Download) -> str | bytes | None:
        try:
            return await self._one(owner, path, wanted)
        except Exception as error:  # noqa: BLE001 - whoever waits for it must not wait for ever
            # Neither its words nor its traceback: either may show the address.
            logger.error("%s of %s is not downloaded: %s", path, owner, type(error).__name__)
            self._metrics.count("reflet_sidecar_downloads_total", outcome="failed")
            return None

    async def _one(self, owner: Owner, path: str, wanted: Download) -> str | bytes | None:
        # The address of a Secret is a value of it.
        shown = f"of {owner}" if wanted.is_secret else shown_address(wanted.url)
        try:
            async with self._places:
                request = WebRequest(url=wanted.url, login=self._login())
                answer = await self._web.send(request, self._policy)
        except RetriesExceeded as error:
            logger.error("Max retries exceeded for URL %s: %s", shown, _told(error, wanted))
        except TransportError as error:
            logger.error("Unexpected error during request to %s: %s", shown, _told(error, wanted))
        else:
            logger.info("Request sent to %s. Response: %s %s", shown, answer.status, answer.reason)
            if answer.is_good or (self._settings.enable_5xx and answer.status in SERVER_ERRORS):
                self._metrics.count("reflet_sidecar_downloads_total", outcome="done")
                return answer.text() if wanted.as_text else answer.body
            if not wanted.is_secret:
                logger.debug("%s answered: %s", shown, self._beginning(answer))
        self._metrics.count("reflet_sidecar_downloads_total", outcome="failed")
        logger.warning("%s of %s is not downloaded: what is there stays", path, owner)
        return None

    def _beginning(self, answer: WebAnswer) -> str:
        """What a server says about a refusal; without our password, which some repeat."""
        text = answer.text()[:SHOWN_BODY]
        for part in self._login() or ():
            if words := part.decode(self._settings.req_basic_auth_encoding, "replace"):
                text = text.replace(words, "‹hidden›")
        return text


def _told(error: TransportError, wanted: Download) -> str:
    return type(error).__name__ if wanted.is_secret else str(error)
