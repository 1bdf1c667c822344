from __future__ import annotations

from reflet.transport.interface import Request


def test_added_headers_come_after_the_others_and_replace_none() -> None:
    request = Request(path="/", headers=(("impersonate-group", "a"),))

    assert request.with_headers([("impersonate-group", "b")]) == Request(
        path="/", headers=(("impersonate-group", "a"), ("impersonate-group", "b"))
    )
    assert request.headers == (("impersonate-group", "a"),)


def test_a_request_asks_for_what_it_must_and_nothing_else() -> None:
    request = Request(path="/version")

    assert (request.method, request.query, request.headers) == ("GET", (), ())
    assert (request.body, request.timeout) == (b"", None)
