from __future__ import annotations

from typing import get_args

import pytest

from reflet.node.shim import protocol
from reflet.node.shim.container_records import ContainerRecord
from reflet.node.shim.protocol import (
    Answered,
    Asked,
    ContainerEnded,
    Executed,
    ShimRequest,
    StartContainer,
    encoded,
    read_asked,
    read_greeting,
    read_told,
)
from reflet.pleg.runtime_status import RuntimeState
from reflet.processes.container_plan import BindMount, ContainerRoot

ROOT = ContainerRoot(
    host_name="web",
    staging="/pods/u1/root",
    scratch="/pods/u1/tmp",
    shared=(("/usr", False),),
    mounts=(BindMount(folder="/v", beneath="s3cret", path="/data", read_only=False),),
)
RECORD = ContainerRecord(
    id="c1", uid="u1", name="main", attempt=0, folder="/f", groups=(1, 2), capabilities=()
)
ORDER = StartContainer(
    record=RECORD, arguments=("a", "s3cret"), environment={"KEY": "s3cret"}, root=ROOT
)
REQUESTS: list[ShimRequest] = [
    ORDER,
    protocol.ListContainers("u1"),
    protocol.ListChanges("tag"),
    protocol.ListRecords("u1"),
    protocol.ExecSync("c1", ("echo", "s3cret"), 1.0),
    protocol.ExecStream(id="c1", arguments=("s3cret",), command="x", streams=("", "/o", "/e")),
    protocol.StopExec("x"),
    protocol.CloseStdin("c1"),
    protocol.SignalContainer("c1", 15),
    protocol.StopContainer("c1", 30.0),
    protocol.RemoveContainer("c1"),
    protocol.StopShim(),
]
ANSWERS: list[protocol.ShimAnswer] = [
    protocol.ContainerAnswer(RECORD),
    protocol.ContainerRecords((RECORD,)),
    protocol.ContainerList(
        "tag", (protocol.ListedContainer("c1", "u1", "main", RuntimeState.EXITED),)
    ),
    protocol.Unchanged(),
    Executed(None, "s3cret"),
    protocol.Done(did=True),
]
TOLD: list[protocol.Told] = [
    *(Answered(7, answer) for answer in ANSWERS),
    protocol.Declined(7, "why not"),
    ContainerEnded("c1", "u1"),
]


def test_every_request_arrives_as_it_was_sent() -> None:
    assert {type(each) for each in REQUESTS} == set(get_args(ShimRequest))
    for number, request in enumerate(REQUESTS):
        asked = read_asked(encoded(Asked(number, request)))

        assert (asked.number, asked.read()) == (number, request)


def test_everything_that_is_told_arrives_as_it_was_said() -> None:
    assert {type(each) for each in ANSWERS} == set(get_args(protocol.ShimAnswer))
    assert {type(each) for each in TOLD} == set(get_args(protocol.Told))

    assert [read_told(encoded(each)) for each in TOLD] == TOLD


@pytest.mark.parametrize("said", [*REQUESTS, *TOLD])
def test_nothing_shows_what_may_be_secret(said: protocol.Message) -> None:
    assert "s3cret" not in repr(said)


def test_any_bytes_get_through() -> None:
    strange = "\udcff\u2028\n"
    order = StartContainer(record=RECORD, arguments=(strange,), environment={strange: strange})
    line = encoded(Asked(1, order))

    assert read_asked(line).read() == order
    assert line.count(b"\n") == 1


def test_the_greeting_is_read_whatever_the_version_adds_to_it() -> None:
    assert read_greeting(b'{"version":2,"pid":7}\n') == protocol.Greeting(2, 7)
    assert read_greeting(b'{"version":9,"pid":7,"type":"Hello"}\n') == protocol.Greeting(9, 7)


@pytest.mark.parametrize("line", [b"[1]\n", b"nonsense\n", b"", b"{}\n", b'{"type":"Dance"}\n'])
def test_what_is_no_message_is_refused(line: bytes) -> None:
    for read in (read_greeting, read_asked, read_told):
        with pytest.raises(ValueError):  # noqa: PT011 - the shape is all there is to say
            read(line)


def test_a_request_of_no_known_form_still_has_its_number() -> None:
    asked = read_asked(b'{"number":3,"request":{"type":"Dance"}}\n')

    assert asked.number == 3
    with pytest.raises(ValueError, match="Dance"):
        asked.read()
