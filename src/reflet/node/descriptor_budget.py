"""How the descriptors of an agent and its shim are divided, and how many pods that allows.

What strangers can take by connecting, what readers of logs keep open and what pods need come out
of separate shares, so that none of them takes what another lives on.

::

    agent    64   requests to the API server, the lease, files that are open for a moment
             1/8  connections at the ports, 256 at most
             6    for each log that is read, at most 64 of those
             12   for each command that runs in a container, or container that is attached to, at
                  most 32 of those, and the four connections that may be forwarded beside it
             4    for each pod: watches of its ConfigMaps and Secrets, its volumes being written
    shim   64   the agent, records that are written, inputs that are read once
             4    for each container: two pipes, a log, the process; two containers a pod
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reflet.runtime.descriptors import PLENTY, descriptor_limit
from reflet.transport.serving.connections import MOST_CONNECTIONS

MOST_PODS: Final = 1000
MOST_LOGS: Final = 64
FILES_OF_A_LOG: Final = 6
MOST_COMMANDS: Final = 32
FORWARDED_FOR_A_COMMAND: Final = 4
MOST_FORWARDED: Final = MOST_COMMANDS * FORWARDED_FOR_A_COMMAND
FILES_OF_A_COMMAND: Final = 8 + FORWARDED_FOR_A_COMMAND

RESERVE: Final = 64
_CONNECTIONS_ONE_IN: Final = 8
_LOGS_ONE_IN: Final = 64
_COMMANDS_ONE_IN: Final = 128
_POD_IN_AGENT: Final = 4
_CONTAINER_IN_SHIM: Final = 4
_CONTAINERS_OF_A_POD: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptorBudget:
    """How many connections, logs, commands and pods fit."""

    connections: int = MOST_CONNECTIONS
    logs: int = MOST_LOGS
    commands: int = MOST_COMMANDS
    pods: int = MOST_PODS


def budget_with(shim: int) -> DescriptorBudget:
    """Divide what this process and the shim of that number have."""
    mine = descriptor_limit()
    try:
        return budget(mine, descriptor_limit(shim))
    except OSError:  # it is gone, and the next one has what this process has
        return budget(mine, mine)


def budget_alone() -> DescriptorBudget:
    """Divide what this process has, where containers are no children of a shim."""
    mine = descriptor_limit()
    return budget(mine, max(mine, PLENTY))


def budget(agent: int, shim: int) -> DescriptorBudget:
    """Divide the limits of the two processes."""
    connections = max(2, min(MOST_CONNECTIONS, agent // _CONNECTIONS_ONE_IN))
    logs = max(1, min(MOST_LOGS, agent // _LOGS_ONE_IN))
    commands = max(1, min(MOST_COMMANDS, agent // _COMMANDS_ONE_IN))
    left = agent - RESERVE - connections - logs * FILES_OF_A_LOG - commands * FILES_OF_A_COMMAND
    kept = (shim - RESERVE) // _CONTAINER_IN_SHIM // _CONTAINERS_OF_A_POD
    pods = max(1, min(MOST_PODS, left // _POD_IN_AGENT, kept))
    return DescriptorBudget(connections=connections, logs=logs, commands=commands, pods=pods)
