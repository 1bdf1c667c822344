"""ConfigMaps and Secrets, as far as managers care.

Owns: the shape that strategies ask of objects.  Must not know the kinds themselves.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from reflet.api.meta import KubernetesObject


class Configuration(KubernetesObject, Protocol):
    """An object that can promise never to change."""

    @property
    def immutable(self) -> bool:
        """Whether its content can never change."""


C = TypeVar("C", bound=Configuration)
C_co = TypeVar("C_co", bound=Configuration, covariant=True)
