"""The form of log lines, which is that of kiwigrid/k8s-sidecar, and how logging is set up.

JSON has ``time``, ``level`` and ``msg``; LOGFMT has the same three.  A file of LOG_CONFIG may name
the formatters as the original's do: ``logger.JsonFormatter`` and ``logger.LogfmtFormatter``.

No line holds a payload, or the value of a Secret.
"""

from __future__ import annotations

import json
import logging
import logging.config
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import yaml

from reflet.errors import ConfigurationError
from reflet.sidecar.sidecar_settings import SidecarSettings

logger = logging.getLogger("k8s-sidecar")
health_logger = logging.getLogger("health_server")

ALIAS: Final = "logger"
_FIELD: Final = re.compile(r"%\((\w+)\)")
_PLAIN: Final = re.compile(r"[^\s\"=\\]+")
_zone: tzinfo | None = None  # LOG_TZ; the machine's own when it is None


class _IsoTime(logging.Formatter):
    """Times with microseconds and offset, in the zone of LOG_TZ."""

    def formatTime(  # noqa: N802 - logging's own name
        self,
        record: logging.LogRecord,
        datefmt: str | None = None,  # noqa: ARG002 - logging's shape
    ) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        return moment.astimezone(_zone).isoformat()

    def _values(self, record: logging.LogRecord) -> dict[str, Any]:
        record.message = record.getMessage()
        record.asctime = self.formatTime(record)
        return record.__dict__

    def _traceback(self, record: logging.LogRecord) -> str:
        return self.formatException(record.exc_info) if record.exc_info else ""


class SidecarJsonFormatter(_IsoTime):
    """One JSON object a line: the time, and the fields that *format* names, renamed."""

    def __init__(
        self,
        format: str = "%(levelname)s %(message)s",  # noqa: A002 - the key in people's files
        rename_fields: Mapping[str, str] | None = None,
        **_: object,
    ) -> None:
        super().__init__()
        self._fields = _FIELD.findall(format)
        self._renamed = rename_fields or {"levelname": "level", "message": "msg"}

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        values = self._values(record)
        line: dict[str, Any] = {"time": record.asctime}
        for name in self._fields:
            line[self._renamed.get(name, name)] = values.get(name)
        if traceback := self._traceback(record):
            line["exc_info"] = traceback
        return json.dumps(line, default=str)


class SidecarLogfmtFormatter(_IsoTime):
    """One line of ``key=value``: *keys* in their order, each what *mapping* says it is."""

    def __init__(
        self,
        keys: Sequence[str] = ("time", "level", "msg"),
        mapping: Mapping[str, str] | None = None,
        **_: object,
    ) -> None:
        super().__init__()
        self._keys = tuple(keys)
        self._mapping = mapping or {"time": "asctime", "level": "levelname", "msg": "message"}

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        values = self._values(record)
        pairs = [(key, values.get(self._mapping.get(key, key), "")) for key in self._keys]
        if traceback := self._traceback(record):
            pairs.append(("exc_info", traceback))
        return " ".join(f"{key}={_quoted(str(value))}" for key, value in pairs)


def _quoted(text: str) -> str:
    if _PLAIN.fullmatch(text) or not text:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    escaped = escaped.replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def set_up_logging(settings: SidecarSettings) -> None:
    """Have everything logged as LOG_CONFIG says, or else LOG_LEVEL, LOG_FORMAT and LOG_TZ.

    Raises ConfigurationError that names the file.
    """
    global _zone  # noqa: PLW0603 - formatters are made by logging, which cannot tell them
    _zone = UTC if settings.log_tz == "UTC" else None
    if settings.log_config:
        _alias()
        config = _read(settings.log_config)
        try:
            logging.config.dictConfig(config)
        except (ValueError, TypeError, AttributeError, ImportError) as error:
            why = error.__cause__ or error
            raise ConfigurationError(f"LOG_CONFIG {settings.log_config}: {why}") from error
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        SidecarJsonFormatter() if settings.log_format == "JSON" else SidecarLogfmtFormatter()
    )
    logging.basicConfig(level=settings.log_level, handlers=[handler], force=True)


def _read(path: str) -> dict[str, Any]:
    try:
        config = yaml.safe_load(Path(path).read_text("utf-8"))
    except OSError as error:
        raise ConfigurationError(f"LOG_CONFIG {path}: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"LOG_CONFIG {path} is not YAML: {error}") from error
    if not isinstance(config, dict):
        raise ConfigurationError(f"LOG_CONFIG {path}: not a mapping, as Python's logging wants it")
    return config


def _alias() -> None:
    """Let files name our formatters as the original's."""
    module = ModuleType(ALIAS)
    vars(module).update(JsonFormatter=SidecarJsonFormatter, LogfmtFormatter=SidecarLogfmtFormatter)
    sys.modules.setdefault(ALIAS, module)
