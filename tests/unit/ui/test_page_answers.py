"""Who may have the page: whoever has its token, from this machine, for the page itself."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.insight.page.page_document import PageDocument
from reflet.transport.serving.http_answers import Answer, Question
from reflet.ui.page_answers import PageAnswers, read_assets
from reflet.ui.page_feed import PageFeed

TOKEN = "a-token-of-the-page"
HOST = "127.0.0.1:4321"
READER = {"host": HOST, "authorization": f"Bearer {TOKEN}"}


def document() -> PageDocument:
    nothing: dict[str, Any] = {"notes": (), "sources": {}, "workloads": {}, "edits": ()}
    return PageDocument(title="shop", kind="live", began=0.0, now=0.0, **nothing)


async def asked(*path: str, **headers: str) -> Answer:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    answers = PageAnswers(PageFeed(document, run="r"), token=TOKEN)
    answer = await answers.answer(Question(path, {}, {"host": HOST, **given}))
    if not isinstance(answer.body, bytes):
        await answer.body.aclose()
    return answer


async def test_the_page_and_its_files_are_there() -> None:
    for name in (
        "app.js",
        "board.js",
        "lines.js",
        "model.js",
        "stream.js",
        "style.css",
        "words.js",
    ):
        assert (await asked(name)).status == 200
    page = await asked()
    assert isinstance(page.body, bytes)
    assert b"<!doctype html>" in page.body


@pytest.mark.parametrize(
    "path", [("nothing",), ("..", "pages.py"), ("assets", "app.js"), ("events", "x"), ("",)]
)
async def test_nothing_else_is(path: tuple[str, ...]) -> None:
    assert (await asked(*path)).status == 404


async def test_every_answer_forbids_what_the_page_does_not_do() -> None:
    for answer in (await asked(), await asked("app.js"), await asked("events", **READER)):
        headers = dict(answer.headers)
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "'unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"


def test_nothing_of_the_page_comes_from_elsewhere_or_makes_markup_of_text() -> None:
    for name, data in read_assets().items():
        text = data.decode()
        for forbidden in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
        ):
            assert forbidden not in text, name
        assert "https://" not in text, name
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", ""), name


async def test_the_events_are_for_who_has_the_token() -> None:
    assert (await asked("events", **READER)).status == 200


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer ",
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        "Bearer é",
    ],
)
async def test_without_it_they_are_not(authorization: str) -> None:
    answer = await asked("events", authorization=authorization)

    assert (answer.status, isinstance(answer.body, bytes)) == (401, True)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:4321", "localhost", "LOCALHOST:80", "[::1]:9", "127.8.8.8", "[::1]"]
)
async def test_this_machine_has_these_names(host: str) -> None:
    assert (await asked(host=host)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:4321",
        "127.0.0.1.evil.example",
        "10.0.0.1:4321",
        "",
        "[",
        "a:b:c",
    ],
)
async def test_under_another_name_nothing_is_answered(host: str) -> None:
    for path in ((), ("app.js",), ("events",)):
        assert (await asked(*path, **{**READER, "host": host})).status == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": f"https://{HOST}"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
async def test_another_page_gets_nothing_though_it_had_the_token(headers: dict[str, str]) -> None:
    assert (await asked("events", **READER, **headers)).status == 403


async def test_the_page_itself_gets_them() -> None:
    own = {"origin": f"http://{HOST}", "sec_fetch_site": "same-origin"}

    assert (await asked("events", **READER, **own)).status == 200


async def test_events_are_compressed_for_who_can_read_that() -> None:
    plain = await asked("events", **READER)
    packed = await asked("events", **READER, accept_encoding="br, gzip")

    assert "Content-Encoding" not in dict(plain.headers)
    assert dict(packed.headers)["Content-Encoding"] == "gzip"
