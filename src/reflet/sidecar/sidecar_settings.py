"""What a sidecar is asked for, as one frozen value, read from the environment and the flags.

Pure: the environment comes in as a mapping.  Flags win over the environment.  Every problem is one
line that names the variable, or the flag, and all of them are found at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from reflet.errors import ConfigurationError
from reflet.sidecar.sidecar_variables import VARIABLES
from reflet.sidecar.variable_readers import ResourceName, Tolerated

LIST: Final = "LIST"
SLEEP: Final = "SLEEP"
RESYNC: Final = 60.0
NEEDED: Final = ("LABEL", "FOLDER")


class BadSettings(ConfigurationError):
    """The variables cannot be used; ``problems`` has a line for each."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True, kw_only=True)
class SidecarSettings:
    """The settings of one sidecar; ``VARIABLES`` says what each means.

    A field is a variable in lower case, and ``read_settings`` makes them.  ``warnings`` are lines
    for the log.  No secret is in the repr.
    """

    label: str
    folder: str
    label_value: str
    folder_annotation: str
    namespace: tuple[str, ...]
    resource: Literal["configmap", "secret", "both"]
    resource_name: tuple[ResourceName, ...]
    method: str
    sleep_time: int
    req_url: str = field(repr=False)  # it may hold a token
    req_method: str
    req_payload: str = field(repr=False)
    req_retry_total: int
    req_retry_connect: int
    req_retry_read: int
    req_retry_backoff_factor: float
    req_timeout: float
    req_username: str
    req_password: str = field(repr=False)
    req_username_file: str
    req_password_file: str
    req_basic_auth_encoding: str
    req_skip_init: bool
    req_skip_tls_verify: bool
    script: str
    enable_5xx: bool
    error_throttle_sleep: int
    skip_tls_verify: bool
    disable_x509_strict_verification: bool
    unique_filenames: bool
    default_file_mode: int | None
    kubeconfig: str
    watch_server_timeout: float | None
    watch_client_timeout: float | None
    ignore_already_processed: bool
    log_level: str
    log_format: str
    log_tz: str
    log_config: str
    health_port: int
    health_host: str
    layout: Literal["files", "links"]
    allowed_folders: tuple[str, ...] | None
    reload_debounce: float
    reload_signal: int | None
    reload_process: str
    script_timeout: float
    resync_interval: float | None
    url_refresh_interval: float
    ui_port: int
    warnings: tuple[str, ...] = ()

    @property
    def selector(self) -> str:
        """The label selector that the server is asked with."""
        return f"{self.label}={self.label_value}" if self.label_value else self.label

    @property
    def reads_once(self) -> bool:
        """Whether everything is read once, and that is all."""
        return self.method == LIST

    @property
    def polls(self) -> bool:
        """Whether the server is asked again and again, and not watched."""
        return self.method == SLEEP

    @property
    def kinds(self) -> tuple[Literal["secret", "configmap"], ...]:
        """The kinds of objects, in the order in which they count: the last one wins."""
        return ("secret", "configmap") if self.resource == "both" else (self.resource,)

    @property
    def resync_every(self) -> float:
        """Seconds between two looks at the files; the original looks after each watch."""
        if self.resync_interval is not None:
            return self.resync_interval
        return self.watch_server_timeout or RESYNC

    @property
    def payload(self) -> bytes | None:
        """The JSON that a POST sends; None for nothing."""
        if not self.req_payload:
            return None
        try:
            value = json.loads(self.req_payload)
            return None if value is None else json.dumps(value, allow_nan=False).encode()
        except ValueError:
            return json.dumps(self.req_payload).encode()


def read_settings(
    environ: Mapping[str, str], flags: Mapping[str, str] | None = None
) -> SidecarSettings:
    """The settings that the environment and *flags* amount to; BadSettings says why not.

    *flags* have the names of variables, and their texts mean what they mean there.
    """
    given = flags or {}
    values: dict[str, Any] = {}
    problems: list[str] = []
    warnings: list[str] = []
    for name, variable in VARIABLES.items():
        text = given.get(name, environ.get(name))
        if text is None:
            values[variable.field] = variable.default
            continue
        called = variable.flag if name in given else name
        try:
            values[variable.field] = variable.read(text)
        except Tolerated as wrong:
            values[variable.field] = wrong.value
            warnings.append(f"{called}: {wrong}")
        except ValueError as wrong:
            problems.append(f"{called}: {wrong}")
    problems += _missing(environ, given)
    if problems:
        raise BadSettings(tuple(problems))
    settings = SidecarSettings(**values, warnings=tuple(warnings))
    problems += _contradictions(settings)
    if problems:
        raise BadSettings(tuple(problems))
    return settings


def _missing(environ: Mapping[str, str], flags: Mapping[str, str]) -> list[str]:
    return [
        f"{name} is missing: set it, or give {VARIABLES[name].flag}"
        for name in NEEDED
        if name not in flags and name not in environ
    ]


def _contradictions(settings: SidecarSettings) -> list[str]:
    found: list[str] = []
    if bool(settings.reload_process) != (settings.reload_signal is not None):
        found.append("RELOAD_SIGNAL and RELOAD_PROCESS go together: set both, or neither")
    return found
