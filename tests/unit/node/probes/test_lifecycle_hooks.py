from __future__ import annotations

from pathlib import Path

import pytest

from reflet.node.probes.handlers import HandlerFailed, Target
from reflet.node.probes.http_probes import PLAIN_ANSWER, BrokenAnswer, HttpAnswer, NoAnswer
from reflet.node.probes.lifecycle_hooks import HookFailed
from reflet.node.probes.probe_spec import (
    ExecAction,
    Handler,
    HttpGetAction,
    NoAction,
    SleepAction,
    TcpSocketAction,
)
from tests.unit.node.paper_node import PaperNode
from tests.unit.node.pod_scenes import container, only, pod

pytestmark = pytest.mark.virtual_time

WHERE = 'for Container "main" in Pod "web_shop(u1)" failed - error:'


async def hooked(node: PaperNode, hook: Handler) -> None:
    of = pod(container())
    await node.factory.hooks().run(of, Target(only(of), "main-0"), hook, seconds=5)


async def failure(node: PaperNode, hook: Handler) -> str:
    with pytest.raises(HookFailed) as caught:
        await hooked(node, hook)
    return str(caught.value)


async def test_a_command_is_run_in_the_container(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)

    await hooked(node, ExecAction(("tell", "$(A)")))

    assert node.handlers.asked == [(0, "main", ExecAction(("tell", "$(A)")))]


async def test_neither_a_failed_command_nor_what_it_wrote_is_told(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    node.handlers.exit_codes["main"] = 3

    assert await failure(node, ExecAction(("s3cret",))) == (
        f"Exec lifecycle hook {WHERE} command exited with 3"
    )


async def test_a_command_that_takes_too_long_has_failed(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    node.handlers.takes = 9.0

    assert await failure(node, ExecAction(("x",))) == (
        f"Exec lifecycle hook {WHERE} command timed out"
    )


async def test_a_page_that_answers_was_asked_for_whatever_it_says(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)

    await hooked(node, HttpGetAction(80))
    node.handlers.outcomes["main"] = BrokenAnswer("unexpected EOF")
    await hooked(node, HttpGetAction(80))

    assert len(node.handlers.asked) == 2


@pytest.mark.parametrize("error", [NoAnswer("Get: EOF"), HandlerFailed('port "x" not found')])
async def test_a_page_that_nobody_answers_for_has_failed(tmp_path: Path, error: Exception) -> None:
    node = PaperNode(tmp_path)
    node.handlers.outcomes["main"] = error

    said = await failure(node, HttpGetAction(80, path="/bye"))

    assert said == f"HTTP lifecycle hook (/bye) {WHERE} {error}"


async def test_https_that_is_answered_in_the_clear_is_asked_again_in_the_clear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = PaperNode(tmp_path)
    asked: list[HttpGetAction] = []

    async def get(action: HttpGetAction, _: Target) -> HttpAnswer:
        asked.append(action)
        if action.scheme == "https":
            raise NoAnswer(f'Get "https://10.0.0.1:80/": {PLAIN_ANSWER}')
        return HttpAnswer(200)

    monkeypatch.setattr(node.handlers, "get", get)
    await hooked(
        node, HttpGetAction(80, scheme="https", headers=(("Authorization", "s"), ("X", "1")))
    )

    assert [(each.scheme, each.headers) for each in asked] == [
        ("https", (("Authorization", "s"), ("X", "1"))),
        ("http", (("X", "1"),)),
    ]
    assert node.events.reasons == ["LifecycleHTTPFallback"]


async def test_a_sleep_takes_its_time(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)

    await hooked(node, SleepAction(7))

    assert node.clock.monotonic() == 7


@pytest.mark.parametrize("hook", [NoAction(), TcpSocketAction(80)])
async def test_what_is_no_hook_has_failed_as_for_the_kubelet(tmp_path: Path, hook: Handler) -> None:
    assert await failure(PaperNode(tmp_path), hook) == "Cannot run handler: invalid handler"
