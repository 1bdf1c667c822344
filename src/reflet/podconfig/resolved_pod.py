"""Everything that a pod's containers get, at one moment.

Owns: the result as data.  Must not know how it came about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reflet.api.core.pods import Pod
from reflet.resolution.file_contents import VolumeContents
from reflet.resolution.problems import Problem
from reflet.resolution.variables import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedPod:
    """A pod's environments by container, and the contents of its configuration by volume.

    Containers and volumes are in the pod's order; what is not configuration, an ``emptyDir`` for
    one, is not among the volumes.  Secret values are in it and in no representation of it.
    """

    pod: Pod
    environments: Mapping[str, Environment]
    volumes: Mapping[str, VolumeContents]

    @property
    def errors(self) -> tuple[str, ...]:
        """Why containers cannot start or volumes cannot be set up, each with its name."""
        return (
            *(
                f"container {name}: {environment.error}"
                for name, environment in self.environments.items()
                if environment.error is not None
            ),
            *(
                f"volume {name}: {contents.error}"
                for name, contents in self.volumes.items()
                if contents.error is not None
            ),
        )

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All that is wrong, whether it keeps the pod from starting or not."""
        found: list[Problem] = []
        for environment in self.environments.values():
            found += environment.problems
        for contents in self.volumes.values():
            found += contents.problems
        return tuple(found)
