"""Log lines in the original's form, and files of people who configured them."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reflet.errors import ConfigurationError
from reflet.sidecar.log_lines import SidecarJsonFormatter, SidecarLogfmtFormatter, set_up_logging
from tests.unit.sidecar.scenes import settings

CONFIG = """
version: 1
disable_existing_loggers: false
root: {level: DEBUG, handlers: [file]}
handlers:
  file:
    class: logging.handlers.RotatingFileHandler
    level: DEBUG
    formatter: FORM
    filename: "%s"
formatters:
  JSON:
    (): logger.JsonFormatter
    format: '%%(levelname)s %%(message)s'
    rename_fields: {message: msg, levelname: level}
  LOGFMT:
    (): logger.LogfmtFormatter
    keys: [time, level, msg]
    mapping: {time: asctime, level: levelname, msg: message}
"""


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    for handler in list(root.handlers):
        if handler not in handlers:
            root.removeHandler(handler)
            handler.close()
    for handler in handlers:
        if handler not in root.handlers:
            root.addHandler(handler)
    root.setLevel(level)
    sys.modules.pop("logger", None)


def record(message: str, *arguments: object) -> logging.LogRecord:
    made = logging.LogRecord("k8s-sidecar", logging.INFO, "", 0, message, arguments, None)
    made.created = datetime(2025, 1, 2, 3, 4, 5, 678901, UTC).timestamp()
    return made


def test_json_has_time_level_and_message() -> None:
    set_up_logging(settings(LOG_TZ="UTC"))

    line = SidecarJsonFormatter().format(record("Writing %s (ascii)", "/out/é"))

    assert json.loads(line) == {
        "time": "2025-01-02T03:04:05.678901+00:00",
        "level": "INFO",
        "msg": "Writing /out/é (ascii)",
    }
    assert list(json.loads(line)) == ["time", "level", "msg"]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("plain", "plain"),
        ("two words", '"two words"'),
        ('a "quote"', '"a \\"quote\\""'),
        ("two\nlines", '"two\\nlines"'),
        ("a=b", '"a=b"'),
    ],
)
def test_logfmt_quotes_what_has_to_be(message: str, shown: str) -> None:
    set_up_logging(settings(LOG_TZ="utc"))

    line = SidecarLogfmtFormatter().format(record(message))

    assert line == f"time=2025-01-02T03:04:05.678901+00:00 level=INFO msg={shown}"


def test_a_traceback_is_a_field_of_its_line() -> None:
    try:
        raise ValueError("oops")
    except ValueError:
        made = logging.LogRecord("x", logging.ERROR, "", 0, "failed", (), sys.exc_info())

    assert "ValueError: oops" in json.loads(SidecarJsonFormatter().format(made))["exc_info"]
    assert "\n" not in SidecarLogfmtFormatter().format(made)


@pytest.mark.parametrize(("form", "begins"), [("JSON", '{"time": '), ("LOGFMT", "time=")])
def test_peoples_files_name_the_originals_formatters(
    tmp_path: Path, form: str, begins: str
) -> None:
    log, config = tmp_path / "log", tmp_path / "config.yaml"
    config.write_text((CONFIG % log).replace("FORM", form))

    set_up_logging(settings(LOG_CONFIG=str(config)))
    logging.getLogger("k8s-sidecar").debug("hello")

    assert log.read_text().startswith(begins)
    assert "hello" in log.read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "No such file or directory"),
        ("a: [", "is not YAML"),
        ("- a", "not a mapping"),
        ("version: 7", "Unsupported version"),
    ],
)
def test_a_file_that_is_of_no_use_is_named(tmp_path: Path, text: str | None, words: str) -> None:
    config = tmp_path / "config.yaml"
    if text is not None:
        config.write_text(text)

    with pytest.raises(ConfigurationError, match=words) as refused:
        set_up_logging(settings(LOG_CONFIG=str(config)))

    assert str(config) in str(refused.value)


def test_levels_and_forms_are_those_of_the_variables(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging(settings(LOG_LEVEL="warning", LOG_FORMAT="LOGFMT"))
    logging.getLogger("k8s-sidecar").info("quiet")
    logging.getLogger("reflet.anything").warning("loud")

    said = capsys.readouterr().err
    assert "quiet" not in said
    assert "level=WARNING msg=loud" in said
