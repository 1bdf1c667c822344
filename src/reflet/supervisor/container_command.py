"""What is run: the user's command, or the container's own.

Owns: the kubelet's rule for command and arguments.  Only computes.  Must not run anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reflet.api.containers import Container
from reflet.errors import ConfigurationError
from reflet.resolution.expansion import OversizedExpansion, expand_all


def command_for(
    container: Container, variables: Mapping[str, str], given: Sequence[str]
) -> tuple[str, ...]:
    """The command and its arguments.

    *given* is taken as it is.  Without it, the container's command and arguments count, with
    ``$(NAME)`` replaced; what the image would run is not known here, and that is a
    ConfigurationError, and so is more than any process could be given.
    """
    if given:
        return tuple(given)
    if not container.command:
        which = "gives only arguments" if container.args else "has no command"
        raise ConfigurationError(
            f"container {container.name} {which}, and what its image runs is not known here: "
            "give the command after --"
        )
    try:
        return expand_all((*container.command, *container.args), variables.get)
    except OversizedExpansion as error:
        raise ConfigurationError(
            f"container {container.name}: command and args have {error}"
        ) from None
