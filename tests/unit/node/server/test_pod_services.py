"""Refusals of streams, in the form that clients show."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from reflet.api.status import error_from_response
from reflet.errors import ApiError, BadRequest, NotFound, TooManyRequests
from reflet.node.server.pod_services import PodServices, as_status
from reflet.transport.serving.http_answers import Answer, Question, Upgrade, text


@pytest.mark.parametrize(
    ("code", "error"), [(400, BadRequest), (404, NotFound), (429, TooManyRequests), (503, ApiError)]
)
def test_a_refused_stream_is_a_status_and_says_when_to_ask_again(
    code: int, error: type[ApiError]
) -> None:
    answer = as_status(text(code, "not now: it is full", retry_after=5))

    assert isinstance(answer, Answer)
    assert isinstance(answer.body, bytes)
    assert (answer.status, answer.retry_after) == (code, 5)
    assert answer.content_type == "application/json"
    assert json.loads(answer.body)["message"] == "not now: it is full"
    assert isinstance(error_from_response(code, None, answer.body, verb="create", path="/"), error)


def test_what_is_no_refusal_stays_as_it_is() -> None:
    upgrade = Upgrade((), lambda _: never())

    assert as_status(upgrade) is upgrade


async def never() -> None:
    raise AssertionError("nobody asked")


@pytest.mark.parametrize("kind", ["exec", "attach", "portForward"])
async def test_every_stream_is_refused_so_and_logs_are_not(kind: str) -> None:
    services = PodServices(*[cast("Any", Refusing())] * 4)

    refused = await services.answer(Question((kind, "shop", "web"), {}, {}))
    log = await services.answer(Question(("containerLogs", "shop", "web"), {}, {}))

    assert isinstance(refused, Answer)
    assert isinstance(log, Answer)
    assert (refused.content_type, log.content_type[:10]) == ("application/json", "text/plain")


class Refusing:
    async def answer(self, _: Question) -> Answer:
        return text(404, "nothing here")
