"""Telling the application: SCRIPT, then a signal, then REQ_URL, after files have changed.

In the background, so that an application that is slow or away holds up neither files nor readiness.
A request is tried as REQ_RETRY_* say, and then again and again, more and more seldom, until it is
answered; a later change takes its place.  A script that fails is not run again: it may have done
half of its work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from reflet.errors import TransportError
from reflet.processes.exit_status import signal_name
from reflet.processes.program import NotStarted
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import Metrics
from reflet.runtime.waits import came_within
from reflet.sidecar.downloads import retry_policy
from reflet.sidecar.log_lines import logger
from reflet.sidecar.owed_reloads import OwedReloads, ReloadCall, ReloadVerdict, verdict_on
from reflet.sidecar.scripts import ScriptTimedOut, run_script, signal_processes
from reflet.sidecar.sidecar_settings import SidecarSettings
from reflet.transport.http.web_client import RetriesExceeded, WebClient, WebRequest, shown_address

FIRST_PAUSE: Final = 15.0
LONGEST_PAUSE: Final = 300.0
"""Seconds between two series of tries."""


class _Superseded(Exception):
    """Another reload is due, and will ask instead."""


class Reloader:
    """Makes the reloads that are owed."""

    def __init__(
        self,
        settings: SidecarSettings,
        web: WebClient,
        login: Callable[[], tuple[bytes, bytes] | None],
        *,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._problems: dict[str, str] = {}
        self._settings = settings
        self._web = web
        self._login = login
        self._policy = retry_policy(settings)
        self._clock = clock
        self._metrics = metrics
        self._owed = OwedReloads(settings.reload_debounce)
        self._changed = asyncio.Event()
        self._at_hand: ReloadCall | None = None
        self._is_asking = False
        self._is_working = False

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is owed but, perhaps, what will be tried again much later."""
        return not self._owed and not self._is_working

    @property
    def problem(self) -> str | None:
        """What of the last reload is not done yet, None when all is."""
        return "; ".join(self._problems.values()) or None

    def owe(self, *, is_initial: bool = False) -> None:
        """Files have changed, and are on disk."""
        asks_url = not (is_initial and self._settings.req_skip_init)
        self._owed.add(self._clock.monotonic(), at_once=is_initial, asks_url=asks_url)
        self._changed.set()

    async def run(self) -> None:
        """Make reloads as they become due, until cancelled.

        One that failed because the machine ran out of something is finished by the next ``run``.
        """
        while True:
            if self._at_hand is None:
                await self._until_due()
                self._at_hand = self._owed.take()
            self._is_working = True
            await self.reload(self._at_hand)
            self._at_hand = None
            self._is_working = False

    async def reload(self, call: ReloadCall, *, is_last: bool = False) -> None:
        """Make one reload; with *is_last* there is one series of tries, and no more."""
        settings = self._settings
        if call.runs_script:
            if settings.script:
                await self._run_script()
            if settings.reload_signal is not None:
                self._signal()
            if self._at_hand is not None:
                self._at_hand = replace(call, runs_script=False)
        # What was not answered is asked for still, whatever this call is about.
        self._is_asking = bool(settings.req_url) and (call.asks_url or self._is_asking)
        if self._is_asking:
            try:
                await self._ask(is_last=is_last)
            except _Superseded:
                return

    async def _until_due(self) -> None:
        while (seconds := self._owed.due_in(self._clock.monotonic())) != 0:
            self._changed.clear()
            if not await came_within(self._changed, seconds, clock=self._clock):
                return  # the time is up, to the last fraction that a clock can count

    async def _pause(self, seconds: float) -> None:
        """Wait, unless another reload becomes due meanwhile."""
        end = self._clock.monotonic() + seconds
        while True:
            now = self._clock.monotonic()
            due = self._owed.due_in(now)
            if due == 0:
                raise _Superseded
            self._changed.clear()
            left = end - now
            came = await came_within(
                self._changed, left if due is None else min(left, due), clock=self._clock
            )
            if not came and (due is None or left <= due):
                return

    # Script and signal

    async def _run_script(self) -> None:
        path = self._settings.script
        logger.info("Executing script from %s", path)
        self._problems.pop("script", None)
        try:
            end = await run_script(path, timeout=self._settings.script_timeout, clock=self._clock)
        except (NotStarted, ScriptTimedOut) as error:
            logger.error("Script failed with error: %s", error)
            self._problems["script"] = f"SCRIPT: {error}"
        else:
            logger.debug("Script stdout: %r", end.output)
            logger.debug("Script stderr: %r", end.errors)
            logger.debug("Script exit code: %s", end.code)
            if end.code:
                logger.error(
                    "Script failed with error: Command '%s' returned non-zero exit status %s.",
                    list(end.command),
                    end.code,
                )
                self._problems["script"] = f"SCRIPT ended with {end.code}"
        self._count("script")

    def _signal(self) -> None:
        number, wanted = self._settings.reload_signal, self._settings.reload_process
        if number is None:
            return
        name = signal_name(number)
        self._problems.pop("signal", None)
        try:
            pids = signal_processes(wanted, number)
        except OSError as error:
            self._problems["signal"] = f"{name} for {wanted}: {error.strerror}"
            logger.error("%s cannot be sent to %s: %s", name, wanted, error.strerror)
        else:
            if pids:
                logger.info("%s sent to %s (%s)", name, wanted, ", ".join(map(str, pids)))
            else:
                # It reads its files when it starts.
                logger.warning("%s is not sent: there is no process %s", name, wanted)
        self._count("signal")

    # The request

    async def _ask(self, *, is_last: bool) -> None:
        settings = self._settings
        method = settings.req_method
        if method not in {"GET", "POST"}:
            logger.warning(
                "Invalid REQ_METHOD: '%s', please use 'GET' or 'POST'. Doing nothing.", method
            )
            self._is_asking = False
            return
        waits = Backoff(
            first=FIRST_PAUSE,
            ceiling=LONGEST_PAUSE,
            jitter=0.2,
            reset_after=None,
            clock=self._clock,
        )
        while await self._ask_once(method) is ReloadVerdict.AGAIN and not is_last:
            self._is_working = False
            await self._pause(waits.next_delay())
            self._is_working = True
        self._is_asking = False

    async def _ask_once(self, method: str) -> ReloadVerdict:
        """One series of tries."""
        settings = self._settings
        shown = shown_address(settings.req_url)
        body = settings.payload if method == "POST" else None
        request = WebRequest(
            url=settings.req_url,
            method=method,
            body=body,
            content_type="" if body is None else "application/json",
            login=self._login(),
        )
        verdict = ReloadVerdict.AGAIN
        try:
            answer = await self._web.send(request, self._policy, pause=self._pause)
        except TransportError as error:
            exceeded = isinstance(error, RetriesExceeded)
            words = (
                "Max retries exceeded for URL" if exceeded else "Unexpected error during request to"
            )
            logger.error("%s %s: %s", words, shown, error)
            self._problems["request"] = f"REQ_URL: {error}"
        else:
            verdict = verdict_on(answer.status)
            is_done = verdict is ReloadVerdict.DONE
            (logger.info if is_done else logger.error)(
                "Request sent to %s. Response: %s %s", shown, answer.status, answer.reason
            )
            if is_done:
                self._problems.pop("request", None)
            else:
                self._problems["request"] = f"REQ_URL: {answer.status} {answer.reason}"
        self._count("request")
        return verdict

    def _count(self, how: str) -> None:
        outcome = "failed" if how in self._problems else "done"
        self._metrics.count("reflet_sidecar_reloads_total", how=how, outcome=outcome)
