"""From the environment and the flags to one value, or to every problem at once."""

from collections.abc import Mapping

import pytest

from reflet.sidecar.sidecar_settings import BadSettings, SidecarSettings, read_settings

LEAST = {"LABEL": "findme", "FOLDER": "/out"}


def settings(**variables: str) -> SidecarSettings:
    return read_settings({**LEAST, **variables})


def problems(environ: Mapping[str, str], flags: Mapping[str, str] | None = None) -> tuple[str, ...]:
    with pytest.raises(BadSettings) as refused:
        read_settings(environ, flags)
    return refused.value.problems


def test_the_defaults_are_the_originals() -> None:
    found = settings()

    assert found.folder_annotation == "k8s-sidecar-target-directory"
    assert found.kinds == ("configmap",)
    assert (found.req_retry_total, found.req_retry_connect, found.req_retry_read) == (5, 10, 5)
    assert (found.req_retry_backoff_factor, found.req_timeout, found.sleep_time) == (1.1, 10, 60)
    assert (found.health_port, found.log_level, found.log_format) == (8080, "INFO", "JSON")
    assert found.error_throttle_sleep == 5
    assert not found.reads_once
    assert not found.polls
    assert found.warnings == ()


def test_what_is_missing_is_named_with_its_flag() -> None:
    assert problems({}) == (
        "LABEL is missing: set it, or give --label",
        "FOLDER is missing: set it, or give --folder",
    )


def test_an_empty_label_would_select_everything_and_is_refused() -> None:
    assert problems({"LABEL": "", "FOLDER": "/out"}) == ("LABEL: is empty",)


def test_a_flag_wins_over_the_environment_and_is_named_as_a_flag() -> None:
    assert read_settings(LEAST, {"LABEL": "other"}).label == "other"
    assert problems(LEAST, {"SLEEP_TIME": "soon"}) == (
        "--sleep-time: 'soon' is not a whole number",
    )


def test_every_problem_is_found_at_once() -> None:
    found = problems({**LEAST, "RESOURCE": "pods", "REQ_TIMEOUT": "x", "DEFAULT_FILE_MODE": "rw"})

    assert [each.partition(":")[0] for each in found] == [
        "RESOURCE",
        "REQ_TIMEOUT",
        "DEFAULT_FILE_MODE",
    ]


def test_what_the_original_goes_on_with_is_a_warning() -> None:
    found = settings(HEALTH_PORT="http", LOG_FORMAT="xml")

    assert (found.health_port, found.log_format) == (0, "JSON")
    assert found.warnings == (
        "LOG_FORMAT: 'xml' is neither JSON nor LOGFMT: it is JSON",
        "HEALTH_PORT: 'http' is no port: health is not served",
    )


@pytest.mark.parametrize(
    ("value", "selector"), [("", "findme"), ("yes", "findme=yes"), (None, "findme")]
)
def test_a_value_belongs_to_the_selector(value: str | None, selector: str) -> None:
    found = settings() if value is None else settings(LABEL_VALUE=value)

    assert found.selector == selector


@pytest.mark.parametrize(
    ("method", "once", "polls"),
    [("LIST", True, False), ("SLEEP", False, True), ("list", False, False), ("", False, False)],
)
def test_a_method_is_meant_only_when_it_is_spelt_exactly(
    method: str, once: bool, polls: bool
) -> None:
    found = settings(METHOD=method)

    assert (found.reads_once, found.polls) == (once, polls)


@pytest.mark.parametrize(
    ("text", "payload"),
    [
        ("", None),
        ('{"a": [1, "b"]}', b'{"a": [1, "b"]}'),
        ("{}", b"{}"),
        ("null", None),
        ("just text", b'"just text"'),
        ("NaN", b'"NaN"'),
        ("7", b"7"),
        ('"é"', b'"\\u00e9"'),
    ],
)
def test_a_payload_is_json_or_a_json_string(text: str, payload: bytes | None) -> None:
    assert settings(REQ_PAYLOAD=text).payload == payload


def test_both_kinds_are_secrets_before_config_maps() -> None:
    assert settings(RESOURCE="both").kinds == ("secret", "configmap")


def test_no_secret_is_in_the_repr() -> None:
    found = settings(
        REQ_PASSWORD="hunter2", REQ_PAYLOAD="hunter2", REQ_URL="http://x/?token=hunter2"
    )

    assert "hunter2" not in repr(found)


@pytest.mark.parametrize("name", ["RELOAD_SIGNAL", "RELOAD_PROCESS"])
def test_a_signal_needs_a_process_and_a_process_a_signal(name: str) -> None:
    value = "HUP" if name == "RELOAD_SIGNAL" else "grafana"

    assert problems({**LEAST, name: value}) == (
        "RELOAD_SIGNAL and RELOAD_PROCESS go together: set both, or neither",
    )
