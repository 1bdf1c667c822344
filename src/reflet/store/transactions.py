"""Several changes of a store at once, and what became of each.

Owns: the operations, and the error that says which of them were carried out.  Must not know
how a store carries them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.errors import RefletError
from reflet.store.keys import Tombstone

T = TypeVar("T", bound=KubernetesObject)


@dataclass(frozen=True)  # with slots, Python 3.11 cannot make a Put[ConfigMap](…)
class Put(Generic[T]):
    """Store the object, whether or not there was one."""

    object: T


@dataclass(frozen=True)  # with slots, Python 3.11 cannot make a Remove[ConfigMap](…)
class Remove(Generic[T]):
    """Remove the object, or what a tombstone names."""

    object: T | Tombstone[T]


Operation: TypeAlias = Put[T] | Remove[T]


class TransactionError(RefletError):
    """Some operations were not carried out; ``successful`` has the positions of those that were."""

    def __init__(self, successful: Sequence[int], total: int, errors: Sequence[Exception]) -> None:
        self.successful = tuple(successful)
        self.total = total
        self.errors = tuple(errors)
        causes = " ".join(str(error) for error in errors)
        super().__init__(
            f"failed to execute ({total - len(successful)}/{total}) transactions failed due to: "
            f"[{causes}]"
        )
