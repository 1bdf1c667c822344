"""The development server answers as the real one does, request by request.

The scenes are in tests/real/differential; each is played to both servers at once, in a
namespace of the same name.  What differs by design is declared there, and told in
docs/explanation/devserver-differences.md.
"""

from __future__ import annotations

import http.client
import re
import secrets
import ssl
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from reflet.devserver.faults import Fault
from reflet.testing.pytest_plugin import running_server
from tests.real.differential.comparison import differences, unexplained
from tests.real.differential.scenes import SCENES
from tests.real.differential.script import Scene, get
from tests.real.differential.side import Outcome, Side
from tests.real.kube_server import HOST, KubeServer
from tests.real.webhook_cases import CASES
from tests.real.webhook_writes import WRITES

PAGE = Path(__file__).parents[2] / "docs/explanation/devserver-differences.md"
PATIENCE = 10.0  # seconds for an answer
ENOUGH = 300  # requests


@pytest.fixture(scope="module")
def ours() -> Iterator[Side]:
    with running_server({"tls": False}) as server:
        address = urlsplit(server.url)

        def connect() -> http.client.HTTPConnection:
            return http.client.HTTPConnection(address.netloc, timeout=PATIENCE)

        yield Side(connect, server.token, lambda: server.add_fault(Fault("expire", now=True)))


@pytest.fixture(scope="module")
def real(kube: KubeServer) -> Side:
    tls = ssl.create_default_context(cafile=str(kube.ca_file))

    def connect() -> http.client.HTTPConnection:
        return http.client.HTTPSConnection(HOST, kube.port, context=tls, timeout=PATIENCE)

    return Side(connect, kube.tokens["admin"], kube.compact)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_both_servers_answer_alike(scene: Scene, real: Side, ours: Side) -> None:
    namespace = f"scene-{secrets.token_hex(4)}"

    with ThreadPoolExecutor(2) as players:
        outcomes = [players.submit(side.play, scene, namespace) for side in (real, ours)]
        answers = [outcome.result() for outcome in outcomes]

    told: list[str] = []
    for request, one, other in zip(scene.requests, *answers, strict=True):
        found = unexplained(request, differences(request, one, other))
        if found:
            told.append("\n".join([request.title, *(f"    {each}" for each in found)]))
    if told:
        pytest.fail("\n".join(told), pytrace=False)


def test_enough_requests_are_compared() -> None:
    assert sum(len(scene.requests) for scene in SCENES) >= ENOUGH


def test_no_two_scenes_have_one_name() -> None:
    counts = Counter(scene.name for scene in SCENES)

    assert [name for name, count in counts.items() if count > 1] == []


def test_the_page_tells_every_declared_difference_and_no_other() -> None:
    declared = {
        why for scene in SCENES for request in scene.requests for why in request.differs.values()
    }
    told_to_webhooks = [*(case.differs for case in CASES), *(each.differs for each in WRITES)]
    for differs in told_to_webhooks:
        declared |= {why for places in differs.values() for why in places.values()}

    told = re.findall(r"^\| `([a-z0-9-]+)` \|", PAGE.read_text(), re.MULTILINE)

    assert sorted(told) == sorted(declared)


def answer(code: int = 200, **body: object) -> Outcome:
    return Outcome(code, {"Content-Type": "application/json"}, body)


@pytest.mark.parametrize(
    ("real", "ours", "places"),
    [
        (answer(a=1), answer(a=1), []),
        (answer(a=1), answer(a=2), ["body.a"]),
        (answer(a=1), answer(a=True), ["body.a"]),
        (answer(a=[1, 2]), answer(a=[1]), ["body.a.1"]),
        (answer(200), answer(201), ["code"]),
        (answer(kind="A", x=1), answer(kind="B", y=1), ["body"]),
        (answer(metadata={"uid": "u"}), answer(metadata={}), ["body.metadata.uid"]),
        (answer(resourceVersion="5"), answer(resourceVersion="7"), []),
        (answer(resourceVersion="5"), answer(resourceVersion=""), ["body.resourceVersion"]),
        (answer(at="2024-01-01T00:00:00Z"), answer(at="2025-02-03T04:05:06Z"), []),
        (answer(at="2024-01-01T00:00:00Z"), answer(at="2025-02-03T04:05:06.7Z"), ["body.at"]),
    ],
)
def test_what_differs_is_noticed_and_nothing_else(
    real: Outcome, ours: Outcome, places: list[str]
) -> None:
    assert [each.place for each in differences(get("/"), real, ours)] == places


def test_a_declared_difference_is_not_told_while_it_is_there() -> None:
    request = get("/", differs={"body.a": "because"})

    assert unexplained(request, differences(request, answer(a={"b": 1}), answer(a={"b": 2}))) == []


def test_a_declared_difference_that_has_gone_is_told() -> None:
    request = get("/", differs={"body.a": "because"})

    assert (
        "declared to differ (because)"
        in unexplained(request, differences(request, answer(a=1), answer(a=1)))[0]
    )
