"""A command as its caller sees it: what it says, what it returns, and how it fails."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from reflet.client.pod_streams import PodStreams
from reflet.client.remote_command import exit_code
from reflet.errors import InternalError, MisuseError, TransportError
from reflet.node.server.exec_service import exit_status
from tests.unit.client.upgrading_transport import UpgradingTransport


def scene(protocol: str = "v5.channel.k8s.io") -> tuple[UpgradingTransport, PodStreams]:
    transport = UpgradingTransport(protocol)
    return transport, PodStreams(transport, namespace="shop")


def said(status: Mapping[str, Any]) -> bytes:
    return b"\x03" + json.dumps(status).encode()


async def test_output_input_size_and_end_are_on_their_channels() -> None:
    transport, streams = scene()
    async with streams.exec("web", ["sh"], stdin=True) as process:
        await process.stdin.write(b"in")
        await process.stdin.close()
        await process.resize(width=80, height=24)
        heard = [await transport.heard() for _ in range(3)]
        for message in (b"\x01out", b"\x02err", said(exit_status(7))):
            await transport.server.send(message)
        await transport.server.close()

        assert heard == [b"\x00in", b"\xff\x00", b'\x04{"Width": 80, "Height": 24}']
        assert process.returncode is None
        assert [piece async for piece in process.stdout] == [b"out"]
        assert await process.stderr.read() == b"err"
        assert await process.wait() == process.returncode == 7


async def test_an_end_without_a_status_is_an_error() -> None:
    transport, streams = scene()
    async with streams.exec("web", ["sh"]) as process:
        await transport.server.close()

        with pytest.raises(TransportError, match="before the command's end was told"):
            await process.wait()


async def test_a_status_without_an_end_is_an_error_and_fills_no_memory() -> None:
    transport, streams = scene()
    async with streams.exec("web", ["sh"]) as process:
        for _ in range(3):
            await transport.server.send(b"\x03" + b" " * 32 * 1024)

        with pytest.raises(TransportError, match="before the command's end was told"):
            await process.wait()


async def test_a_line_that_breaks_is_an_error() -> None:
    transport, streams = scene()
    async with streams.exec("web", ["sh"]) as process:
        await transport.line.write(b"no frame")

        with pytest.raises(TransportError):
            await process.communicate()


async def test_an_attached_container_speaks_until_the_node_says_that_all_is_over() -> None:
    transport, streams = scene()
    async with streams.attach("web", stdin=True) as attached:
        await attached.stdin.write(b"in")
        heard = await transport.heard()
        for message in (b"\x01out", b"\x02err", said(exit_status(0))):
            await transport.server.send(message)
        await transport.server.close()

        assert heard == b"\x00in"
        assert await attached.stdout.read() == b"out"
        assert await attached.stderr.read() == b"err"
        await attached.wait()
        await attached.wait()


async def test_a_container_that_cannot_be_attached_to_is_an_error() -> None:
    transport, streams = scene()
    async with streams.attach("web") as attached:
        await transport.server.send(said({"status": "Failure", "message": "no", "code": 500}))
        await transport.server.close()

        with pytest.raises(InternalError, match="no"):
            await attached.wait()


async def test_leaving_ends_the_connection() -> None:
    transport, streams = scene()
    async with streams.exec("web", ["sh"]):
        pass

    assert await transport.heard() is None


async def test_version_4_cannot_end_the_input() -> None:
    _, streams = scene("v4.channel.k8s.io")
    async with streams.exec("web", ["sh"], stdin=True) as process:
        with pytest.raises(MisuseError):
            await process.stdin.close()


@pytest.mark.parametrize("code", [0, 1, 137])
def test_the_status_of_every_end_is_read_back(code: int) -> None:
    assert exit_code(json.dumps(exit_status(code)).encode()) == code


def test_a_command_that_was_killed_returns_as_one_that_a_signal_ended() -> None:
    assert exit_code(json.dumps(exit_status(None)).encode()) == 137


@pytest.mark.parametrize(
    "status",
    [
        {"status": "Failure", "reason": "InternalError", "message": "not run", "code": 500},
        {"status": "Failure", "reason": "NonZeroExitCode", "message": "not run", "code": 500},
        {"status": "Failure", "message": "not run"},
    ],
)
def test_a_command_that_was_not_run_is_an_error(status: dict[str, Any]) -> None:
    with pytest.raises(InternalError, match="not run"):
        exit_code(json.dumps(status).encode())
