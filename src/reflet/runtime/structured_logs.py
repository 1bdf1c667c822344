"""The form of log lines: one JSON object a line for machines, one line of text for people."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime


class JsonFormatter(logging.Formatter):
    """Gives a record as one line of JSON with its time, level, logger and message."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; an exception's traceback is a field of it."""
        moment = datetime.fromtimestamp(record.created, UTC)
        line = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class PlainFormatter(logging.Formatter):
    """Gives a record as one line for people; a traceback, where there is one, follows it."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        """The line itself: whoever wrote a part of the message cannot begin another one."""
        return super().formatMessage(record).replace("\r", "\\r").replace("\n", "\\n")
