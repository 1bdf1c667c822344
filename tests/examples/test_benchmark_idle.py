"""The idle benchmark counts what passes and what is asked for, and shows it by the minute."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from benchmarks import idle_tables, pictures, summary_page
from benchmarks.idle import (
    FULL,
    QUICK,
    Look,
    Place,
    Size,
    asked_of_watches,
    in_order,
    line_up,
    window,
)
from benchmarks.idle_agents import IdleAgent
from benchmarks.idle_contestants import (
    CANNOT,
    MANAGERS,
    MIRRORS,
    SHARE_OF_THE_PERIOD,
    TITLES,
    USERS,
)
from benchmarks.idle_relay import Door, calling_address
from benchmarks.idle_requests import RequestLog, Watch, watch_of
from benchmarks.measuring import Child, Spread
from benchmarks.node import cpu_of
from benchmarks.wire_clients import Target
from reflet.testing.pytest_plugin import running_server
from tests.node_chaos import shims_of
from tests.node_scenes import until

HERE: Final = "127.0.1.1"
THERE: Final = "127.0.1.2"
WATCHING: Final = "/api/v1/namespaces/n/configmaps?watch=true"


def line(verb: str, *, address: str = HERE, uri: str = "/api/v1/x", thing: bool = True) -> str:
    event: dict[str, Any] = {"verb": verb, "sourceIPs": [address], "requestURI": uri}
    return json.dumps(event | ({"objectRef": {"resource": "configmaps"}} if thing else {})) + "\n"


@pytest.fixture
def log(tmp_path: Path) -> RequestLog:
    return RequestLog(tmp_path)


def append(log: RequestLog, text: str) -> None:
    [path] = [flag.partition("=")[2] for flag in log.flags if "log-path" in flag]
    with Path(path).open("a") as file:
        file.write(text)


# Requests


def test_requests_are_counted_by_caller_and_kind(log: RequestLog) -> None:
    append(log, line("list") + line("watch", uri=WATCHING) + line("list", address=THERE))
    append(log, line("update") + line("get", thing=False))

    assert log.counts() == {
        HERE: Counter(list=1, watch=1, other=2),
        THERE: Counter(list=1),
    }


def test_a_line_that_is_half_written_is_counted_once_and_when_it_is_whole(log: RequestLog) -> None:
    whole = line("get")
    append(log, line("list") + whole[:20])
    before = log.counts()
    append(log, whole[20:])

    assert before == {HERE: Counter(list=1)}
    assert log.counts() == {HERE: Counter(list=1, get=1)}


def test_what_was_counted_before_does_not_change(log: RequestLog) -> None:
    append(log, line("list"))
    before = log.counts()
    append(log, line("list"))
    log.counts()

    assert before == {HERE: Counter(list=1)}


def test_a_watch_says_for_how_long_and_whether_with_bookmarks(log: RequestLog) -> None:
    append(log, line("watch", uri=f"{WATCHING}&timeoutSeconds=300&allowWatchBookmarks=True"))
    log.counts()

    assert log.watches(HERE) == {Watch(300, bookmarks=True)}
    assert watch_of(WATCHING) == Watch(0, bookmarks=False)


# Bytes and connections


@asynccontextmanager
async def echoing() -> AsyncIterator[tuple[int, list[str]]]:
    """A server that says everything twice, and from where it was called."""
    callers: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        callers.append(writer.get_extra_info("peername")[0])
        while data := await reader.read(100):
            writer.write(data * 2)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], callers


async def test_a_door_counts_bytes_both_ways_and_calls_from_its_own_address() -> None:
    async with echoing() as (port, callers):
        door = Door(3, ("127.0.0.1", port))
        reader, writer = await asyncio.open_connection("127.0.0.1", await door.listen())
        writer.write(b"hello")
        heard = await reader.readexactly(10)
        while_open = (door.count.opened, door.count.open, door.count.sent, door.count.received)
        writer.close()
        await writer.wait_closed()
        await until(lambda: not door.count.open)
        await door.close()

    assert heard == b"hellohello"
    assert while_open == (1, 1, 5, 10)
    assert callers == [calling_address(3)]


def test_no_two_doors_call_from_the_same_address() -> None:
    addresses = {calling_address(door) for door in range(600)}

    assert len(addresses) == 600
    assert "127.0.0.1" not in addresses


def test_the_relay_says_what_came_through_whenever_it_is_asked() -> None:
    with Child("benchmarks.idle_relay", {"host": "127.0.0.1", "port": 9, "doors": 2}) as relay:
        ports = relay.hear(30)["ports"]
        relay.say({})
        counts = relay.hear(30)["counts"]

    assert len(set(ports)) == 2
    assert counts == [{"opened": 0, "open": 0, "sent": 0, "received": 0}] * 2


# Windows


def test_a_window_is_given_by_the_minute() -> None:
    place = Place("mirrors", "official", 100)
    nothing = {"opened": 0, "open": 1, "sent": 100, "received": 1000}
    before = Look(10.0, {calling_address(0): Counter(get=5)}, [nothing], {place: 1.0})
    relayed = {"opened": 1, "open": 2, "sent": 150, "received": 1200}
    after = Look(
        40.0, {calling_address(0): Counter(get=8, watch=1)}, [relayed], {place: 1.25}, {place: 0.1}
    )

    found = window(before, after, place, 0)

    assert (found["requests"], found["get_requests"], found["watch_requests"]) == (8, 6, 2)
    assert (found["bytes_sent"], found["bytes_received"], found["bytes"]) == (100, 400, 500)
    assert (found["connections"], found["connections_opened"]) == (2, 2)
    assert found["cpu_milliseconds"] == pytest.approx(500)
    assert found["shim_cpu_milliseconds"] == pytest.approx(200)


def test_the_cpu_time_of_an_agent_is_its_shims_too(tmp_path: Path) -> None:
    with running_server({"tls": True}) as server:
        (tmp_path / "ca.crt").write_bytes(server.ca_data)
        target = Target(server.url, str(tmp_path / "ca.crt"), server.token)
        agent = IdleAgent(target, target, pods=1, folder=tmp_path)
        try:
            processes = agent._agent.pid, *shims_of(tmp_path / "idle-1" / "node")
            before = [cpu_of(process) for process in processes]
            found, of_the_shim = agent.cpu_seconds(), agent.shim_cpu_seconds()
        finally:
            agent.close()

    assert len(before) == 2
    assert found >= sum(before)
    assert of_the_shim >= before[1]


def test_everybody_takes_part_at_three_sizes() -> None:
    for size in (FULL, QUICK):
        places = line_up(size)

        assert len(places) == len(set(places)) == 3 * (len(MIRRORS) + len(MANAGERS) + 1)
        assert all(len(each) == 3 for each in (size.mirrors, size.managers, size.agents))


@pytest.mark.parametrize("size", [FULL, QUICK], ids=["full", "quick"])
def test_every_copy_of_a_cache_is_asked_for_once_in_a_window(size: Size) -> None:
    period, ttl = size.seconds, size.seconds * SHARE_OF_THE_PERIOD
    gap = period / USERS
    asked = []
    for first_read in (0.0, gap / 4, gap / 2, gap * 0.99):
        for age in (0.0, ttl / 2, ttl * 2):  # of the copy, when the managers begin to look
            fetched, within = -age, 0
            for turn in range(3 * USERS):
                moment = first_read + turn * gap
                if moment >= fetched + ttl:
                    fetched = moment
                    within += size.settle <= moment < size.settle + period
            asked.append(within)

    assert set(asked) == {1}


# Tables


def spread(value: float) -> Spread:
    return Spread(value, value, value, 1)


def a_sample(requests: float = 0.0, sent: float = 0.0, received: float = 0.0) -> dict[str, float]:
    return {
        "requests": requests,
        **{f"{kind}_requests": 0.0 for kind in ("list", "watch", "other")},
        "get_requests": requests,
        "bytes": sent + received,
        "bytes_sent": sent,
        "bytes_received": received,
        "connections": 1.0,
        "connections_opened": 0.0,
        "cpu_milliseconds": 1.25,
        "shim_cpu_milliseconds": 0.5,
        **asked_of_watches([Watch(300, bookmarks=True), Watch(600, bookmarks=True)]),
    }


def figures(**changes: Any) -> dict[str, Any]:
    """Everybody silent, but for `get`, whose requests grow with the objects."""
    places = line_up(FULL)
    samples = {
        place: [
            a_sample(requests=3.0 * place.size, received=1000.0 * place.size)
            if place.name == "get"
            else a_sample(sent=78.0, received=215.0)
        ]
        for place in places
    }
    left_out = {Place("mirrors", "cloudcoil", 1000): "objects held: 500, expected 1000"}
    found = in_order(places, samples, left_out)
    return {"size": {"seconds": 60.0, **changes}, **found}


def row(text: str, title: str) -> list[str]:
    [found] = [each for each in text.splitlines() if each.startswith(f"| {title} ")]
    return [cell.strip() for cell in found.split("|")[1:-1]]


def test_what_grows_has_an_exponent_and_what_is_zero_has_none() -> None:
    text = idle_tables.job_table("managers", figures())

    asking = row(text, "**Reflet**, `get`")
    assert asking[1:4] == ["300 / 1,200 / 4,800", "1.00", "get"]
    silent = row(text, "**Reflet**, `watch`")
    assert silent[1:4] == ["0 / 0 / 0", "none", ""]
    assert silent[4:7] == ["78 / 78 / 78", "215 / 215 / 215", "0.00"]


def test_who_is_left_out_at_one_size_keeps_the_others_and_says_why() -> None:
    cells = row(idle_tables.job_table("mirrors", figures()), "cloudcoil informer")

    assert cells[1] == "0 / - / 0"
    assert cells[-1] == (
        "bookmarks, 300 to 600 s; left out with 1,000: objects held: 500, expected 1000"
    )


def test_the_table_of_agents_shows_what_their_shims_used() -> None:
    [head] = [line for line in agents_table() if line.startswith("| agent ")]
    column = head.split("|").index(" the shim's part of it ") - 1

    assert row("\n".join(agents_table()), TITLES["agents"]["agent"])[column] == "0.5 / 0.5 / 0.5"


def agents_table() -> list[str]:
    return idle_tables.job_table("agents", figures()).splitlines()


@pytest.mark.parametrize("job", ["mirrors", "managers", "agents"])
def test_everybody_has_a_row_also_those_who_cannot_take_part(job: str) -> None:
    text = idle_tables.job_table(job, figures())

    for title in (*TITLES[job].values(), *CANNOT[job]):
        assert row(text, title)


def test_silence_is_a_promise_that_a_single_request_breaks() -> None:
    found = figures()
    kept = idle_tables.broken(idle_tables.goals(found))
    asked = Spread(0.0, 0.0, 1.0, 3)  # in one of three windows
    found["managers"]["400"]["figures"]["auto"]["list_requests"] = asked

    assert kept == []
    assert idle_tables.broken(idle_tables.goals(found)) == [
        "asks for nothing but the next watch: Reflet, `auto`: 1 other requests a minute"
    ]


def test_bytes_that_grow_with_the_objects_break_a_promise() -> None:
    found = figures()
    for size, standings in found["mirrors"].items():
        standings["figures"]["ours_http2"]["bytes"] = spread(float(size))

    [broken] = idle_tables.broken(idle_tables.goals(found))

    assert broken == (
        "no more bytes a minute for more objects: Reflet informer, HTTP/2: "
        "100 / 1,000 / 10,000: n to the 1.00"
    )


def test_the_growth_table_gets_the_bytes_of_all_three_jobs() -> None:
    rows = idle_tables.growth_rows(figures())

    assert {(each["job"].rpartition(", ")[2], each["by"]) for each in rows} == {
        ("mirrors", "objects"),
        ("managers", "objects"),
        ("agents", "pods"),
    }
    assert {each["who"]: each["exponent"] for each in rows}["Reflet, `get`"] == pytest.approx(1.0)


# The page


def as_written(found: dict[str, Any]) -> dict[str, Any]:
    """The figures as they are read from a result file."""

    def plain(spread: Spread) -> dict[str, float]:
        return {"median": spread.median, "low": spread.low, "high": spread.high}

    written: dict[str, Any] = json.loads(json.dumps(found, default=plain))
    return written


def test_the_picture_shows_the_managers_of_most_objects() -> None:
    picture = pictures.idle_managers(as_written(figures()))

    assert "1,600 ConfigMaps" in picture
    assert "1,600.0" in picture  # kB of the one that asks
    assert picture.count('class="bar ours"') == 4


def test_the_short_table_has_a_line_for_a_look_of_a_minute_only() -> None:
    whole, short = (
        summary_page.short_table({"idle": as_written(figures(seconds=seconds))})
        for seconds in (60.0, 10.0)
    )

    assert "for 1,600 objects of pods" in whole
    assert "0.3 (`watch`), 0.3 (`auto`)" in whole
    assert "objects of pods" not in short
