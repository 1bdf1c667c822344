"""Which transport a request gets, and how what runs on an outdated one moves over."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError, TLSFailure, TransportError
from reflet.runtime.clock import Clock
from reflet.testing.virtual_time import VirtualClock
from reflet.transport.auth.certificates import ClientCertificate, Pem
from reflet.transport.auth.credentials import NoCredentials
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.http.cert_rotation import RETRY_DELAY, SETTLE_DELAY, SPREAD, TransportRotation
from reflet.transport.interface import Request, Response, Stream
from tests.unit.transport.pem_material import make_pair

pytestmark = pytest.mark.virtual_time

FIRST, SECOND, THIRD = (make_pair(name) for name in ("first", "second", "third"))


class PaperTransport:
    """Remembers what is done to it, and when."""

    def __init__(self, streams: int = 0) -> None:
        self.streams = list(range(streams))
        self.requests = 0
        self.ended: list[float] = []
        self.closed_at: float | None = None

    async def send(self, request: Request, /) -> Response:
        raise NotImplementedError

    def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AbstractAsyncContextManager[Stream]:
        raise NotImplementedError

    def retire(self) -> Sequence[Callable[[], None]]:
        return [self._end for _ in self.streams]

    def _end(self) -> None:
        if self.streams:
            self.streams.pop()
            self.ended.append(asyncio.get_running_loop().time())

    @property
    def is_unused(self) -> bool:
        return not self.streams and not self.requests

    async def close(self) -> None:
        self.closed_at = asyncio.get_running_loop().time()


class Badges(NoCredentials):
    """Credentials that bring a certificate."""

    certificate: ClientCertificate | None = None

    async def client_certificate(self) -> ClientCertificate | None:
        return self.certificate


class BusyClock(VirtualClock):
    """The clock of a loop that has so much to do that every sleeper is late."""

    async def sleep(self, seconds: float, /) -> None:
        await super().sleep(max(0.0, seconds) + 0.005)


class Scene:
    """A rotation over an authority in a file."""

    def __init__(self, folder: Path, server: str, clock: Clock) -> None:
        self.file = folder / "ca.crt"
        self.file.write_bytes(FIRST.certificate)
        self.badges = Badges()
        self.opened: list[PaperTransport] = []
        self.failure: TransportError | None = None
        self.streams = 0
        settings = ConnectionSettings(
            server=server,
            certificate_authority=Pem("authority", path=self.file),
            credentials=self.badges,
        )
        self.rotation = TransportRotation(settings, self._open, clock=clock)

    async def _open(self, context: ssl.SSLContext | None) -> PaperTransport:
        await asyncio.sleep(0.1)
        if self.failure is not None:
            raise self.failure
        self.opened.append(PaperTransport(self.streams))
        return self.opened[-1]

    async def rotated(self) -> PaperTransport:
        """The transport after the file was replaced and a look at it is due."""
        self.file.write_bytes(SECOND.certificate)
        await asyncio.sleep(1.0)
        return await self.current()

    async def current(self) -> PaperTransport:
        transport = await self.rotation.current()
        assert isinstance(transport, PaperTransport)
        return transport


@asynccontextmanager
async def scene(
    folder: Path, server: str = "https://api.example", *, clock: Clock | None = None
) -> AsyncIterator[Scene]:
    made = Scene(folder, server, clock or VirtualClock())
    try:
        yield made
    finally:
        await made.rotation.close()


def badge() -> ClientCertificate:
    return ClientCertificate(Pem("certificate", data=THIRD.certificate), Pem("key", data=THIRD.key))


async def test_requests_share_one_wire(tmp_path: Path) -> None:
    async with scene(tmp_path) as stage:
        transports = await asyncio.gather(*(stage.current() for _ in range(10)))

        assert len(stage.opened) == 1
        assert set(transports) == set(stage.opened)


async def test_over_plain_http_no_file_is_read(tmp_path: Path) -> None:
    async with scene(tmp_path, "http://api.example") as stage:
        stage.file.unlink()

        assert await stage.current() is await stage.current()


async def test_files_that_changed_need_another_wire_and_one_is_enough(tmp_path: Path) -> None:
    async with scene(tmp_path) as stage:
        before = await stage.current()
        stage.file.write_bytes(SECOND.certificate)
        await asyncio.sleep(1.0)
        after = await asyncio.gather(*(stage.current() for _ in range(10)))

        assert set(stage.opened) == {before, *after}
        assert len(stage.opened) == 2


async def test_nobody_waits_while_another_request_opens_a_wire_for_new_files(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as stage:
        before = await stage.current()
        rotating = asyncio.create_task(stage.rotated())
        await asyncio.sleep(1.05)
        began = asyncio.get_running_loop().time()
        meanwhile = await stage.current()
        waited = asyncio.get_running_loop().time() - began

        assert (meanwhile, waited) == (before, 0.0)
        assert await rotating is not before


async def test_everybody_waits_for_a_wire_with_another_certificate_of_the_credentials(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as stage:
        before = await stage.current()
        stage.badges.certificate = badge()
        transports = await asyncio.gather(stage.current(), stage.current())

        assert before not in transports
        assert len(stage.opened) == 2


async def test_an_outdated_wire_that_nothing_runs_on_is_closed_at_once(tmp_path: Path) -> None:
    async with scene(tmp_path) as stage:
        before = await stage.current()
        await stage.rotated()
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(0.001)

        assert before.closed_at == began


@pytest.mark.parametrize("count", [1, 4, 1000])
async def test_streams_are_ended_one_by_one_in_a_bounded_time(tmp_path: Path, count: int) -> None:
    async with scene(tmp_path) as stage:
        stage.streams = count
        before = await stage.current()
        await stage.rotated()
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(2 * (SETTLE_DELAY + SPREAD))

        moments = [began + SETTLE_DELAY + number * SPREAD / count for number in range(count)]
        assert before.ended == pytest.approx(moments)
        assert before.closed_at == pytest.approx(began + SETTLE_DELAY + SPREAD)


async def test_a_busy_loop_does_not_make_it_longer(tmp_path: Path) -> None:
    async with scene(tmp_path, clock=BusyClock()) as stage:
        stage.streams = 1000
        before = await stage.current()
        await stage.rotated()
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(2 * (SETTLE_DELAY + SPREAD))

        assert before.closed_at == pytest.approx(began + SETTLE_DELAY + SPREAD, abs=0.1)


async def test_requests_that_are_under_way_are_waited_for(tmp_path: Path) -> None:
    async with scene(tmp_path) as stage:
        before = await stage.current()
        before.requests = 1
        await stage.rotated()
        await asyncio.sleep(60.0)
        was_open = before.closed_at is None
        before.requests = 0
        await asyncio.sleep(SETTLE_DELAY)

        assert was_open
        assert before.closed_at is not None


async def test_a_stream_that_was_late_is_ended_in_the_next_round(tmp_path: Path) -> None:
    async with scene(tmp_path) as stage:
        before = await stage.current()
        before.requests = 1
        await stage.rotated()
        before.streams.append(0)
        before.requests = 0
        await asyncio.sleep(3 * SETTLE_DELAY + SPREAD)

        assert len(before.ended) == 1
        assert before.closed_at is not None


async def test_another_certificate_of_the_credentials_needs_another_wire(tmp_path: Path) -> None:
    async with scene(tmp_path) as stage:
        before = await stage.current()
        stage.badges.certificate = badge()

        assert await stage.current() is not before
        assert len(stage.opened) == 2


async def test_a_wire_that_cannot_be_replaced_for_new_files_stays_and_that_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with scene(tmp_path) as stage:
        before = await stage.current()
        stage.failure = TLSFailure("the server's certificate is not trusted")
        with caplog.at_level(logging.WARNING):
            stayed = [await stage.rotated(), await stage.current(), await stage.current()]
        stage.failure = None
        await asyncio.sleep(RETRY_DELAY)
        after = await stage.current()

    assert stayed == [before] * 3
    assert after is not before
    (record,) = caplog.records
    assert record.message.endswith("not trusted; the connections made before stay in use")


async def test_a_wire_that_cannot_be_replaced_for_another_certificate_is_not_used(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as stage:
        await stage.current()
        stage.badges.certificate = badge()
        stage.failure = TransportError("down")

        with pytest.raises(TransportError, match="down"):
            await stage.current()


async def test_before_the_first_wire_every_request_looks_at_the_files(tmp_path: Path) -> None:
    async with scene(tmp_path) as stage:
        stage.file.write_bytes(b"")
        with pytest.raises(ConfigurationError):
            await stage.current()
        stage.file.write_bytes(FIRST.certificate)

        assert await stage.current() in stage.opened


async def test_closing_closes_the_outdated_too_and_refuses_what_comes(tmp_path: Path) -> None:
    async with scene(tmp_path) as stage:
        stage.streams = 1
        await stage.current()
        await stage.rotated()
        await stage.rotation.close()

        assert [transport.closed_at is not None for transport in stage.opened] == [True, True]
        with pytest.raises(TransportError, match="the client is closed"):
            await stage.current()


async def test_a_wire_that_was_opened_while_everything_closed_is_closed(tmp_path: Path) -> None:
    async with scene(tmp_path) as stage:
        opening = asyncio.create_task(stage.current())
        await asyncio.sleep(0.05)
        await stage.rotation.close()

        with pytest.raises(TransportError, match="the client is closed"):
            await opening
        assert stage.opened[0].closed_at is not None
