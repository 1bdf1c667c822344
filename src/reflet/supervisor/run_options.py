"""What a run is asked for, and when a process that ended is started again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import assert_never

from reflet.processes.exit_status import Ending, Exited
from reflet.supervisor.configuration_changes import OnChange, RestartOnChange
from reflet.supervisor.container_configuration import EnvironmentOptions


class RestartPolicy(Enum):
    """What is done when the process ends by itself."""

    NEVER = "never"
    ON_FAILURE = "on-failure"
    ALWAYS = "always"

    def wants_another(self, ending: Ending) -> bool:
        """Whether the process is to be started again."""
        match self:
            case RestartPolicy.NEVER:
                return False
            case RestartPolicy.ON_FAILURE:
                return ending != Exited(0)
            case RestartPolicy.ALWAYS:
                return True
            case _:
                assert_never(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What a run is asked for; nothing that may be secret is shown.

    ``command`` is empty for the container's own; ``local`` is our own environment.  ``wait`` is
    how many seconds objects that are missing may take to come, ``debounce`` how many have to be
    quiet before a change is acted on.
    """

    command: Sequence[str] = field(default=(), repr=False)
    local: Mapping[str, str] = field(default_factory=dict, repr=False)
    environment: EnvironmentOptions = field(default_factory=EnvironmentOptions)
    on_change: OnChange = field(default_factory=RestartOnChange)
    restart: RestartPolicy = RestartPolicy.NEVER
    debounce: float = 0.3
    wait: float = 10.0
    isolate: bool = False
    root: Path | None = None
