"""The variables of the sidecar: every name, what it means, how its text is read, and its flag.

The first 41 are those of kiwigrid/k8s-sidecar, with its defaults and its rules for truth; the
others are our own.  The table drives reading (``sidecar_settings``), the flags of the command and
the page of the reference.  Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from reflet.sidecar.variable_readers import (
    Reader,
    encoding,
    exact_truth,
    file_mode,
    folders,
    http_method,
    log_format,
    log_level,
    named_objects,
    namespaces,
    needed,
    number,
    one_of,
    plain,
    port,
    seconds_if_any,
    selector,
    signal_if_any,
    truth,
    upper_case,
    whole_number,
)

DEFAULT_ANNOTATION: Final = "k8s-sidecar-target-directory"


@dataclass(frozen=True, slots=True)
class SidecarVariable:
    """One setting.

    *default* is the value without the variable, and *usual* that value in words where it is not
    a plain one.  *is_flag* says that the flag takes no value; *on_command_line* that there is one.
    """

    name: str
    about: str
    read: Reader
    default: Any = None
    usual: str = ""
    is_flag: bool = False
    on_command_line: bool = True

    @property
    def field(self) -> str:
        """The name of the setting in ``SidecarSettings``."""
        return self.name.lower()

    @property
    def flag(self) -> str:
        """The name of the flag."""
        return f"--{self.field.replace('_', '-')}"

    @property
    def shown_default(self) -> str:
        """What holds without the variable, in words."""
        return self.usual or ("" if self.default is None else str(self.default))


_ORIGINAL: Final = (
    SidecarVariable("LABEL", "Label that objects carry, or a whole selector.", selector),
    SidecarVariable("LABEL_VALUE", "Value of the label; empty for any.", plain, "", "any"),
    SidecarVariable("FOLDER", "Folder that the files are written to.", needed),
    SidecarVariable(
        "FOLDER_ANNOTATION",
        "Annotation by which an object names a folder of its own, absolute or below FOLDER.",
        plain,
        DEFAULT_ANNOTATION,
    ),
    SidecarVariable(
        "NAMESPACE",
        "Namespaces, separated by commas, or ALL.",
        namespaces,
        (),
        "the pod's own",
    ),
    SidecarVariable(
        "RESOURCE",
        "Kinds of objects: configmap, secret or both.",
        one_of("configmap", "secret", "both"),
        "configmap",
    ),
    SidecarVariable(
        "RESOURCE_NAME",
        "Objects by name instead of by label: NAME, KIND/NAME or NAMESPACE/KIND/NAME, separated "
        "by commas.",
        named_objects,
        (),
        "by label",
    ),
    SidecarVariable(
        "METHOD",
        "LIST reads once and ends, SLEEP lists every SLEEP_TIME seconds, anything else watches.",
        plain,
        "WATCH",
    ),
    SidecarVariable("SLEEP_TIME", "Seconds between two lists of METHOD=SLEEP.", whole_number, 60),
    SidecarVariable(
        "REQ_URL", "URL that is requested after files have changed.", plain, "", "none"
    ),
    SidecarVariable("REQ_METHOD", "GET or POST.", http_method, "GET"),
    SidecarVariable(
        "REQ_PAYLOAD",
        "What a POST sends: JSON as it is, other text as a JSON string.",
        plain,
        "",
        "nothing",
    ),
    SidecarVariable("REQ_RETRY_TOTAL", "Retries of REQ_URL.", whole_number, 5),
    SidecarVariable("REQ_RETRY_CONNECT", "Retries without a connection.", whole_number, 10),
    SidecarVariable("REQ_RETRY_READ", "Retries without an answer.", whole_number, 5),
    SidecarVariable(
        "REQ_RETRY_BACKOFF_FACTOR",
        "Seconds f: tries wait 0, 2f, 4f, 8f … seconds, 120 at most.",
        number,
        1.1,
    ),
    SidecarVariable("REQ_TIMEOUT", "Seconds for a connection, and for an answer.", number, 10.0),
    SidecarVariable("REQ_USERNAME", "User for REQ_URL and for downloads.", plain, "", "none"),
    SidecarVariable(
        "REQ_PASSWORD", "Password of that user.", plain, "", "none", on_command_line=False
    ),
    SidecarVariable(
        "REQ_USERNAME_FILE", "File with the user, read at each request.", plain, "", "none"
    ),
    SidecarVariable(
        "REQ_PASSWORD_FILE", "File with the password, read at each request.", plain, "", "none"
    ),
    SidecarVariable(
        "REQ_BASIC_AUTH_ENCODING", "Encoding of user and password.", encoding, "latin1"
    ),
    SidecarVariable(
        "REQ_SKIP_INIT",
        "Do not request REQ_URL for the first files.",
        truth,
        False,
        "false",
        is_flag=True,
    ),
    SidecarVariable(
        "REQ_SKIP_TLS_VERIFY",
        "Trust any certificate of REQ_URL and of downloads.",
        exact_truth,
        False,
        "false",
        is_flag=True,
    ),
    SidecarVariable(
        "SCRIPT",
        "Program that is run after files have changed, before REQ_URL is requested.",
        plain,
        "",
        "none",
    ),
    SidecarVariable(
        "ENABLE_5XX",
        "Write the body of a download that is answered 500, 502, 503 or 504, and do not retry.",
        truth,
        False,
        "false",
        is_flag=True,
    ),
    SidecarVariable(
        "ERROR_THROTTLE_SLEEP",
        "Seconds to wait, at least, after the API server refused.",
        whole_number,
        5,
    ),
    SidecarVariable(
        "SKIP_TLS_VERIFY",
        "Trust any certificate of the API server.",
        exact_truth,
        False,
        "false",
        is_flag=True,
    ),
    SidecarVariable(
        "DISABLE_X509_STRICT_VERIFICATION",
        "Accepted; certificates are never held to RFC 5280 in every letter.",
        truth,
        False,
        "false",
        on_command_line=False,
    ),
    SidecarVariable(
        "UNIQUE_FILENAMES",
        "Call files namespace_NAMESPACE.KIND_NAME.KEY.",
        truth,
        False,
        "false",
        is_flag=True,
    ),
    SidecarVariable(
        "DEFAULT_FILE_MODE",
        "Mode of files, in octal digits.",
        file_mode,
        None,
        "0666 without umask",
    ),
    SidecarVariable(
        "KUBECONFIG", "Kubeconfig file; without one, the pod's service account.", plain, ""
    ),
    SidecarVariable(
        "WATCH_SERVER_TIMEOUT",
        "Seconds after which the API server ends a watch.",
        seconds_if_any,
        None,
        "300 to 600",
    ),
    SidecarVariable(
        "WATCH_CLIENT_TIMEOUT",
        "Seconds without a byte after which a watch is opened again.",
        seconds_if_any,
        None,
        "900; dead connections are found in 60",
    ),
    SidecarVariable(
        "IGNORE_ALREADY_PROCESSED",
        "Accepted; a version is never processed twice.",
        truth,
        False,
        "always",
        on_command_line=False,
    ),
    SidecarVariable("LOG_LEVEL", "DEBUG, INFO, WARNING or ERROR.", log_level, "INFO"),
    SidecarVariable("LOG_FORMAT", "JSON or LOGFMT.", log_format, "JSON"),
    SidecarVariable("LOG_TZ", "Time zone of the log: LOCAL or UTC.", upper_case, "LOCAL"),
    SidecarVariable(
        "LOG_CONFIG", "YAML file for Python's logging, instead of LOG_*.", plain, "", "none"
    ),
    SidecarVariable(
        "HEALTH_PORT", "Port of /healthz, /livez, /readyz, /metrics; 0 for none.", port, 8080
    ),
    SidecarVariable("HEALTH_HOST", "Address to listen at.", plain, "", "all, IPv4 and IPv6"),
)

_OWN: Final = (
    SidecarVariable(
        "LAYOUT",
        "files writes plain files; links swaps all files of a folder at once behind ..data.",
        one_of("files", "links"),
        "files",
    ),
    SidecarVariable(
        "ALLOWED_FOLDERS",
        "Folders beside FOLDER that annotations may name, separated by commas; links inside them "
        "are then not followed.",
        folders,
        None,
        "any",
    ),
    SidecarVariable(
        "RELOAD_DEBOUNCE",
        "Seconds of quiet after a change before the reload; 0 for one reload for each object.",
        number,
        0.5,
    ),
    SidecarVariable(
        "RELOAD_SIGNAL", "Signal for RELOAD_PROCESS, like HUP.", signal_if_any, None, "none"
    ),
    SidecarVariable(
        "RELOAD_PROCESS",
        "Name or number of the process that gets the signal, in a shared PID namespace.",
        plain,
        "",
        "none",
    ),
    SidecarVariable(
        "SCRIPT_TIMEOUT", "Seconds after which SCRIPT is killed; 0 for never.", number, 300.0
    ),
    SidecarVariable(
        "RESYNC_INTERVAL",
        "Seconds between two checks for files that others changed; 0 for never.",
        number,
        None,
        "WATCH_SERVER_TIMEOUT, or 60",
    ),
    SidecarVariable(
        "URL_REFRESH_INTERVAL",
        "Seconds after which .url keys are downloaded again; 0 when the object changes only.",
        number,
        0.0,
    ),
    SidecarVariable(
        "UI_PORT",
        "Port of 127.0.0.1 at which a live page of the folder is shown; 0 for none.",
        port,
        0,
    ),
)

VARIABLES: Final[Mapping[str, SidecarVariable]] = MappingProxyType(
    {each.name: each for each in (*_ORIGINAL, *_OWN)}
)
"""Every variable by its name, the original's first."""

ORIGINAL: Final = frozenset(each.name for each in _ORIGINAL)
"""The names that kiwigrid/k8s-sidecar has."""
