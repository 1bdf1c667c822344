from __future__ import annotations

import json
import logging

from reflet.runtime.structured_logs import JsonFormatter, PlainFormatter


def record(message: str, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord("reflet.node", logging.WARNING, "f", 1, message, arguments, None)


def test_a_line_is_one_json_object() -> None:
    line = JsonFormatter().format(record("pod %s\nfailed", "web"))

    document = json.loads(line)
    assert "\n" not in line
    assert (document["level"], document["logger"], document["message"]) == (
        "warning",
        "reflet.node",
        "pod web\nfailed",
    )


def test_a_traceback_is_a_part_of_it() -> None:
    try:
        raise ValueError("boom")
    except ValueError as error:
        failed = logging.LogRecord(
            "reflet", logging.ERROR, "f", 1, "no", (), (ValueError, error, error.__traceback__)
        )

    assert "ValueError: boom" in json.loads(JsonFormatter().format(failed))["traceback"]


def test_people_read_a_plain_line() -> None:
    assert PlainFormatter().format(record("hello")).endswith("WARNING hello")


def test_nobody_begins_a_line_of_their_own_in_a_plain_log() -> None:
    line = PlainFormatter().format(record("pod %s", "web\r\n03:04:05 INFO    all is well"))

    assert line.endswith("WARNING pod web\\r\\n03:04:05 INFO    all is well")
    assert line.splitlines() == [line]


def test_a_traceback_follows_a_plain_line_in_lines_of_its_own() -> None:
    try:
        raise ValueError("boom")
    except ValueError as error:
        failed = record("no\nway")
        failed.exc_info = (ValueError, error, error.__traceback__)

    first, *rest = PlainFormatter().format(failed).splitlines()
    assert first.endswith("WARNING no\\nway")
    assert (rest[0], rest[-1]) == ("Traceback (most recent call last):", "ValueError: boom")


def test_letters_of_all_languages_stay_readable() -> None:
    assert "Größe" in JsonFormatter().format(record("Größe"))


def test_the_time_is_that_of_greenwich_to_the_millisecond() -> None:
    early = record("hello")
    early.created = 1.5

    assert json.loads(JsonFormatter().format(early))["time"] == "1970-01-01T00:00:01.500Z"


def test_a_line_without_a_failure_has_no_traceback() -> None:
    assert "traceback" not in json.loads(JsonFormatter().format(record("hello")))
