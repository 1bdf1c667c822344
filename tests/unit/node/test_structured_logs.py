from __future__ import annotations

import json
import logging

from reflet.node.structured_logs import JsonFormatter, PlainFormatter


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
