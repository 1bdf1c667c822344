"""Where a container's configuration comes from.

Owns: the interface.  Must not know any source.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from reflet.supervisor.container_configuration import ContainerConfiguration


class ConfigurationSource(Protocol):
    """Tells what a container gets, now and whenever the result is another."""

    def configurations(self) -> AsyncIterator[ContainerConfiguration]:
        """Give the configuration as soon as it is known, complete or not, and then each new one.

        A source that loses its server gives nothing until it is back.
        """
        ...
