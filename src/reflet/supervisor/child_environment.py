"""The environment that the process is started with.

Owns: who wins when several sources set a variable.  Only computes.  Must not know where the
pod's variables come from.

=======================  ==========================================================
 ``--unset``              takes a variable away, whoever set it
 ``REFLET_ROOT``          where the files are
 ``--set``                over the pod's
 the pod                  exactly what the container gets
 ``--inherit``            of the local environment, what the pod does not set
 ``PATH``                 the local one, where nobody above sets one: the programs that are
                          installed here take the place of those in the image
=======================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

ROOT_VARIABLE: Final = "REFLET_ROOT"
PATH: Final = "PATH"
RUNTIME_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What container runtimes set where nobody sets a PATH."""


@dataclass(frozen=True, slots=True)
class EnvironmentOptions:
    """What the user wants besides the pod's variables; values are not shown."""

    inherit: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    unset: Sequence[str] = ()


def child_environment(
    pod_variables: Mapping[str, str],
    local: Mapping[str, str],
    options: EnvironmentOptions,
    *,
    root: str,
) -> dict[str, str]:
    """The whole environment of the process."""
    result = {PATH: local.get(PATH) or RUNTIME_PATH}
    result |= {
        name: value
        for name, value in local.items()
        if any(fnmatchcase(name, pattern) for pattern in options.inherit)
    }
    result |= pod_variables
    result |= options.settings
    result[ROOT_VARIABLE] = root
    for name in options.unset:
        result.pop(name, None)
    return result
