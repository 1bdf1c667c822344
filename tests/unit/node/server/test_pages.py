from __future__ import annotations

import errno
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from reflet.api.core.nodes import Node
from reflet.api.core.pods import PodStatus
from reflet.errors import CacheNotSynced, Forbidden, NotFound, NotRegistered, RefletError
from reflet.managers.watches.stream_plan import OpenStream, StreamPlan
from reflet.node.identity.node_lease import LEASE_DURATION
from reflet.node.pods.workers import STUCK_AFTER
from reflet.node.server.pages import AgentPages
from reflet.node.server.pod_services import PodServices
from reflet.node.status.status_manager import LocalStatuses
from reflet.pods.pod_sources import PodSeen
from reflet.runtime.metrics import CONTENT_TYPE, MetricText
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.runtime.tasks import TaskOwner
from reflet.transport.serving.http_answers import Answer, Question, text
from tests.unit.node.paper_node import PaperNode, PaperStatuses, paper_node, passing
from tests.unit.node.paper_node import stored_pod as pod
from tests.unit.node.pod_scenes import container

pytestmark = pytest.mark.virtual_time

SECRET = "hunter2 is in a variable"
WEB = pod(container(env=[{"name": "PASSWORD", "value": SECRET}]))


@dataclass
class Runtime:
    is_connected: bool = True
    scheme: str = "reflet"

    def problem(self) -> str | None:
        return None if self.is_connected else "the shim is away"


@dataclass
class Feed:
    problem: str | None = None

    def why_not_ready(self) -> str | None:
        return self.problem


@dataclass
class Services:
    is_synced: bool = True


@dataclass
class Registration:
    node: Node | None = None


@dataclass
class Beat:
    renewed_at: float | None = None


@dataclass
class PaperManager:
    """A manager whose streams have brought these errors, or objects where there is none."""

    streams: Mapping[str | None, RefletError | None] = field(default_factory=dict)

    def plan(self) -> StreamPlan:
        return StreamPlan(tuple(OpenStream("shop", name, "") for name in self.streams))

    def peek(self, namespace: str, name: str) -> object:
        error = self.streams[name]
        if error is not None:
            raise error
        return object()


class Named:
    """Stands for any of the services."""

    def __init__(self, what: str) -> None:
        self._what = what

    async def answer(self, question: Question) -> Answer:
        return text(200, f"the {self._what} of {question.path[-1]}")


class Pages:
    """The pages of an agent on paper; *changes* are of its parts."""

    def __init__(self, node: PaperNode, **changes: Any) -> None:
        self.node = node
        self.others = TaskOwner("others")
        self.permanent = PermanentTasks(clock=node.clock)
        usual: dict[str, Any] = {
            "runtime": Runtime(),
            "pleg": node.pleg,
            "feed": Feed(),
            "services": Services(),
            "managers": (),
            "workers": node.workers,
            "statuses": LocalStatuses(),
            "registration": lambda: None,
            "heartbeat": lambda: None,
            "pod_services": PodServices(
                *map(cast("Any", Named), ("log", "command", "stream", "port"))
            ),
            "permanent": self.permanent,
            "metrics": MetricText(),
            "clock": node.clock,
        }
        self._pages = AgentPages(**(usual | changes))

    async def answer(self, path: str, *, is_reader: bool = False) -> Answer:
        parts = tuple(part for part in path.partition("?")[0].split("/") if part)
        query = {"verbose": ""} if path.endswith("?verbose") else {}
        answer = await self._pages.answer(Question(parts, query, {}, is_reader=is_reader))
        assert isinstance(answer, Answer)
        return answer

    async def ask(self, path: str, *, is_reader: bool = False) -> tuple[int, str]:
        answer = await self.answer(path, is_reader=is_reader)
        assert isinstance(answer.body, bytes)
        return answer.status, answer.body.decode()

    async def failed(self, kind: str = "readyz") -> list[str]:
        """What a page says is wrong."""
        _, words = await self.ask(f"/{kind}?verbose")
        return [line for line in words.splitlines() if line.startswith("[-]")]


@asynccontextmanager
async def pages_of(root: Path, **changes: Any) -> AsyncIterator[Pages]:
    """The pages of an agent that has one pod, which runs."""
    async with paper_node(root) as node:
        node.workers.take(PodSeen(WEB))
        await passing(5.0)
        pages = Pages(node, **changes)
        await pages.others.__aenter__()
        yield pages
        with suppress(ExceptionGroup):  # what tests let fail
            await pages.others.__aexit__(None, None, None)


# Health


async def test_an_agent_with_nothing_wrong_is_well(tmp_path: Path) -> None:
    async with pages_of(tmp_path) as pages:
        answers = [await pages.ask(f"/{kind}") for kind in ("livez", "readyz", "healthz")]

    assert answers == [(200, "ok\n")] * 3


async def test_every_part_has_its_check(tmp_path: Path) -> None:
    # Nobody can say of a whole namespace that it has brought nothing.
    managers = (PaperManager({"settings": None, None: away(None)}),)
    async with pages_of(tmp_path, managers=managers) as pages:
        _, words = await pages.ask("/readyz?verbose")

    assert words.splitlines() == [
        "[+]shim ok",
        "[+]pleg ok",
        "[+]pods ok",
        "[+]services ok",
        "[+]node ok",
        "[+]lease ok",
        "[+]worker/shop/web ok",
        "[+]stream/paper/shop/settings ok",
        "[+]stream/paper/shop/* ok",
        "readyz check passed",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"runtime": Runtime(is_connected=False)}, "shim failed: the shim is away"),
        ({"feed": Feed("the server is silent")}, "pods failed: the server is silent"),
        (
            {"services": Services(is_synced=False)},
            "services failed: the services have not been read yet",
        ),
        ({"registration": Registration}, "node failed: the node is not registered yet"),
        ({"heartbeat": Beat}, "lease failed: the lease was never renewed"),
    ],
)
async def test_what_is_wrong_with_a_part_is_said(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    async with pages_of(tmp_path, **changes) as pages:
        failed = await pages.failed()

    assert failed == [f"[-]{words}"]


async def test_a_task_that_has_ended_for_good_is_a_matter_of_life(tmp_path: Path) -> None:
    async def mistaken() -> None:
        raise TypeError(SECRET)

    async with pages_of(tmp_path) as pages:
        pages.permanent.keep(pages.others, mistaken, name="lease")
        await passing(1.0)
        status, words = await pages.ask("/livez")

    assert status == 503
    assert "[-]task/lease failed: it has ended: TypeError" in words.splitlines()
    assert SECRET not in words


async def test_a_task_that_waits_to_be_started_again_is_told_and_alive(tmp_path: Path) -> None:
    async def out_of_descriptors() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    async with pages_of(tmp_path) as pages:
        pages.permanent.keep(pages.others, out_of_descriptors, name="lease")
        await passing(0.5)
        live, ready = await pages.failed("livez"), await pages.failed("readyz")

    assert live == []
    assert ready == ["[-]task/lease failed: it waits to be started again: OSError"]


async def test_only_the_shim_and_the_relist_loop_are_a_matter_of_life(tmp_path: Path) -> None:
    changes = {"services": Services(is_synced=False), "feed": Feed("silent"), "heartbeat": Beat}
    async with pages_of(tmp_path, runtime=Runtime(is_connected=False), **changes) as pages:
        failed = await pages.failed("livez")

    assert failed == ["[-]shim failed: the shim is away"]


async def test_a_relist_loop_that_never_listed_anything_is_not_alive(tmp_path: Path) -> None:
    pages = Pages(PaperNode(tmp_path))

    assert await pages.failed("livez") == ["[-]pleg failed: pleg has yet to be successful"]


async def test_a_node_that_is_registered_is_ready(tmp_path: Path) -> None:
    async with pages_of(tmp_path, registration=lambda: Registration(Node())) as pages:
        assert await pages.failed() == []


@pytest.mark.parametrize(
    ("age", "failed"),
    [
        (LEASE_DURATION - 1, []),
        (LEASE_DURATION, ["[-]lease failed: the lease was last renewed 40 s ago"]),
    ],
)
async def test_a_lease_that_has_run_out_is_told_with_its_age(
    tmp_path: Path, age: float, failed: Sequence[str]
) -> None:
    beat = Beat()
    async with pages_of(tmp_path, heartbeat=lambda: beat) as pages:
        beat.renewed_at = pages.node.clock.monotonic() - age

        assert await pages.failed() == failed


async def test_a_worker_whose_step_does_not_end_is_told_by_its_pod(tmp_path: Path) -> None:
    async with pages_of(tmp_path) as pages:
        (worker,) = pages.node.workers.workers
        worker.busy_since = pages.node.clock.monotonic() - STUCK_AFTER - 1

        assert await pages.failed() == ["[-]worker/shop/web failed: stuck"]


def away(cause: Exception | None) -> CacheNotSynced:
    error = CacheNotSynced("configmap", "shop", "settings")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (away(Forbidden("you may not", code=403)), "you may not"),
        (away(None), "failed to sync configmap cache: timed out waiting for the condition"),
        (NotFound("there is none", code=404), None),
        (NotRegistered("shop", "settings"), None),
    ],
)
async def test_a_stream_that_has_brought_nothing_is_told_and_an_absence_is_an_answer(
    tmp_path: Path, error: RefletError, words: str | None
) -> None:
    managers = (PaperManager({"settings": error}),)
    async with pages_of(tmp_path, managers=managers) as pages:
        failed = await pages.failed()

    assert failed == ([] if words is None else [f"[-]stream/paper/shop/settings failed: {words}"])


# The other pages


async def test_numbers_are_those_that_were_reported(tmp_path: Path) -> None:
    metrics = MetricText()
    metrics.gauge("b", 3)
    async with pages_of(tmp_path, metrics=metrics) as pages:
        answer = await pages.answer("/metrics")

    assert answer == Answer(200, b"# TYPE b gauge\nb 3\n", CONTENT_TYPE)


async def test_what_is_about_one_pod_is_asked_of_those_who_have_it(tmp_path: Path) -> None:
    async with pages_of(tmp_path) as pages:
        assert await pages.ask("/containerLogs/shop/web/main") == (200, "the log of main\n")
        assert await pages.ask("/exec/shop/web/main") == (200, "the command of main\n")
        assert await pages.ask("/attach/shop/web/main") == (200, "the stream of main\n")
        assert await pages.ask("/portForward/shop/web") == (200, "the port of web\n")


async def test_a_pod_is_shown_with_the_latest_status_that_only_we_know(tmp_path: Path) -> None:
    statuses = LocalStatuses()
    statuses.report(WEB, PodStatus(phase="Running"))
    async with pages_of(tmp_path, statuses=statuses) as pages:
        answer = await pages.answer("/pods")

    assert isinstance(answer.body, bytes)
    assert answer.content_type == "application/json"
    assert msgspec.json.decode(answer.body) == {
        "pods": [
            {"namespace": "shop", "name": "web", "uid": "u1", "status": {"phase": "Running"}},
        ]
    }


async def test_a_pod_whose_status_the_server_has_is_shown_with_that(tmp_path: Path) -> None:
    async with pages_of(tmp_path, statuses=PaperStatuses()) as pages:
        (worker,) = pages.node.workers.workers
        worker.update(pod(status={"phase": "Pending"}))
        _, words = await pages.ask("/pods")

    assert msgspec.json.decode(words)["pods"][0]["status"] == {"phase": "Pending"}


async def test_what_may_be_secret_is_not_shown(tmp_path: Path) -> None:
    async with pages_of(tmp_path) as pages:
        answers = [await pages.ask(path) for path in ("/pods", "/metrics", "/readyz?verbose")]

    assert [SECRET in words for _, words in answers] == [False] * 3


def ended(message: str) -> dict[str, Any]:
    return {"terminated": {"exitCode": 3, "reason": "Error", "message": message}}


LAST_WORDS = {
    "phase": "Running",
    "message": "the pod's own",
    "initContainerStatuses": [{"name": "first", "state": ended("said by first")}],
    "containerStatuses": [
        {
            "name": "main",
            "restartCount": 1,
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "said of main"}},
            "lastState": ended("said by main"),
        },
        {"name": "calm", "state": {"running": {}}},
    ],
    "ephemeralContainerStatuses": [{"name": "debug", "state": ended("said by debug")}],
}


@pytest.mark.parametrize(("is_reader", "said"), [(False, 0), (True, 4)])
async def test_what_containers_said_is_shown_to_readers_alone(
    tmp_path: Path, is_reader: bool, said: int
) -> None:
    async with pages_of(tmp_path, statuses=PaperStatuses()) as pages:
        (worker,) = pages.node.workers.workers
        worker.update(pod(status=LAST_WORDS))
        _, words = await pages.ask("/pods", is_reader=is_reader)

    assert words.count('"message":"said') == said
    (shown,) = msgspec.json.decode(words)["pods"]
    status = shown["status"]
    assert status["message"] == "the pod's own"
    ends = [
        status["containerStatuses"][0]["lastState"],
        status["initContainerStatuses"][0]["state"],
    ]
    assert [end["terminated"]["exitCode"] for end in ends] == [3, 3]


@pytest.mark.parametrize("path", ["/", "/nothing", "/metrics/more", "/pods/more"])
async def test_whoever_is_lost_is_told_what_there_is(tmp_path: Path, path: str) -> None:
    async with pages_of(tmp_path) as pages:
        answer = await pages.ask(path)

    assert answer == (
        404,
        "there are /livez /readyz /metrics /pods /containerLogs /exec /attach and /portForward\n",
    )
