"""The last words of a container: its termination message, read from the files of this machine.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_container.go, convertToKubeContainerStatus,
    getTerminationMessage, readLastStringFromContainerLogs
Upstream: pkg/kubelet/container/container.go, MaxContainerTerminationMessageLength
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from reflet.cri.messages.containers import ContainerState, ContainerStatus

MESSAGE_PATH_ANNOTATION: Final = "io.kubernetes.container.terminationMessagePath"
MESSAGE_POLICY_ANNOTATION: Final = "io.kubernetes.container.terminationMessagePolicy"
FALL_BACK: Final = "FallbackToLogsOnError"
LONGEST_MESSAGE: Final = 4096  # bytes
LONGEST_FROM_LOG: Final = 2048  # bytes
LINES_FROM_LOG: Final = 80
LOOKED_AT: Final = 64 * 1024  # bytes of the end of a log: many times what is kept of it


def termination_message(status: ContainerStatus) -> str:
    """What a container that has ended left behind; empty when it left nothing."""
    if status.state != ContainerState.EXITED:
        return ""
    # A container that could not even be started has no log.
    falls_back = (
        status.annotations.get(MESSAGE_POLICY_ANNOTATION) == FALL_BACK
        and status.exit_code != 0
        and status.reason != "ContainerCannotRun"
    )
    path = status.annotations.get(MESSAGE_PATH_ANNOTATION, "")
    file = next((each.host_path for each in status.mounts if path == each.container_path), None)
    if path and file is not None:
        try:
            left = _end_of(Path(file), LONGEST_MESSAGE).decode(errors="replace")
        except FileNotFoundError:
            left = ""
        except OSError as error:
            return f"Error on reading termination log {file}: {error.strerror}"
        if left:
            return left
    return _end_of_log(status.log_path) if falls_back else ""


def _end_of_log(path: str) -> str:
    """The end of what the container wrote, without the times and streams of the log's lines."""
    try:
        lines = _end_of(Path(path), LOOKED_AT).splitlines()[-LINES_FROM_LOG:]
    except OSError:
        return ""
    said = b"".join(map(_said, lines))
    return said[-LONGEST_FROM_LOG:].decode(errors="replace")


def _said(line: bytes) -> bytes:
    """What a line of the log says: it is ``time stream tag content``, and P means not whole."""
    parts = line.split(b" ", 3)
    if len(parts) < 4:
        return b""
    return parts[3] if parts[2].split(b":")[0] == b"P" else parts[3] + b"\n"


def _end_of(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        length = file.seek(0, os.SEEK_END)
        file.seek(max(0, length - size))
        return file.read(size)
