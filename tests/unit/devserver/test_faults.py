"""Faults strike the requests they are for, exactly as often as they say."""

from __future__ import annotations

import subprocess
import sys

import pytest

from reflet.devserver.faults import Action, Fault, Faults, RequestLog, SeenRequest
from reflet.errors import ConfigurationError

LIST = SeenRequest("GET", "/api/v1/pods", {}, "me", "list", "pods")
WATCH = SeenRequest("GET", "/api/v1/pods", {"watch": "1"}, "me", "watch", "pods")


@pytest.mark.parametrize(
    ("fault", "matches"),
    [
        (Fault(Action.DROP), True),
        (Fault(Action.DROP, verb="list"), True),
        (Fault(Action.DROP, verb="watch"), False),
        (Fault(Action.DROP, resource="pods"), True),
        (Fault(Action.DROP, resource="nodes"), False),
        (Fault(Action.DROP, path="/api/v1/*"), True),
        (Fault(Action.DROP, path="/apis/*"), False),
    ],
)
def test_a_fault_is_for_a_verb_a_resource_and_a_path(fault: Fault, matches: bool) -> None:
    assert fault.matches(LIST) is matches


def test_it_lets_some_pass_strikes_some_and_is_used_up() -> None:
    faults = Faults()
    fault = Fault(Action.DROP, after=2, times=2)
    faults.add(fault)

    struck = [faults.strike(LIST) for _ in range(6)]

    assert struck == [None, None, fault, fault, None, None]
    assert (faults.waiting, faults.fired) == ((), (fault, fault))


def test_of_several_the_first_strikes_and_the_others_wait() -> None:
    faults = Faults()
    faults.add(Fault(Action.DROP, verb="list"))
    faults.add(Fault(Action.STALL, verb="list"))

    struck = [faults.strike(LIST) for _ in range(2)]

    assert [each.action for each in struck if each] == [Action.DROP, Action.STALL]


def test_a_request_that_is_not_meant_counts_for_nothing() -> None:
    faults = Faults()
    faults.add(Fault(Action.DROP, verb="watch", after=1))

    assert [faults.strike(each) is not None for each in (LIST, WATCH, LIST, WATCH)] == [
        *(False, False, False, True)
    ]


def test_a_fault_that_strikes_now_waits_for_nobody() -> None:
    told: list[Fault] = []
    faults = Faults(told.append)
    fault = Fault(Action.CLOSE, now=True)

    faults.add(fault)

    assert told == [fault]
    assert (faults.waiting, faults.fired) == ((), (fault,))


def test_forgotten_faults_do_not_strike() -> None:
    faults = Faults()
    faults.add(Fault(Action.DROP))
    faults.clear()

    assert faults.strike(LIST) is None


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"action": "explode"}, "is not one of drop, reset, stall"),
        ({"action": "drop", "times": 0}, "times 1 or more"),
        ({"action": "drop", "now": True}, "needs a request to strike"),
        ({"action": "status", "status": 200}, "not between 400 and 599"),
        ({"action": "drop", "times": True}, "the times of a fault is not True"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        Fault.from_document(wrong)


def test_a_fault_is_written_as_it_is_read() -> None:
    fault = Fault(Action.STATUS, status=429, retry_after=3, verb="list")
    document = {name: value for name, value in fault.to_document().items() if value is not None}

    assert Fault.from_document(document) == fault


def test_requests_are_counted_as_faults_match() -> None:
    log = RequestLog(most=2)
    for request in (LIST, LIST, WATCH):
        log.add(request)

    assert (len(log), log.count(verb="list"), log.count(resource="pods")) == (2, 1, 2)


def test_a_fault_can_be_named_without_loading_the_web_library() -> None:
    program = "import sys; from reflet.devserver import Fault; print('aiohttp' in sys.modules)"

    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )

    assert finished.stdout == "False\n"
