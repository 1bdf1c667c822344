"""The Secrets of registered pods.

Owns: nothing but the kind; what managers do is ``object_manager``.
"""

from __future__ import annotations

from typing import Any

from reflet.api.config import Secret
from reflet.managers.object_manager import ObjectManager
from reflet.managers.object_server import ObjectServer
from reflet.resolution.references import secret_names


class SecretManager(ObjectManager[Secret]):
    """The Secrets that registered pods refer to, ready to read while the context is open.

    Pull secrets and the credentials of volumes are among them.  *strategy* and *options* are
    those of ``ConfigMapManager``.
    """

    def __init__(self, cluster: ObjectServer, *, strategy: str = "watch", **options: Any) -> None:
        super().__init__(
            cluster, Secret, word="secret", names_of=secret_names, strategy=strategy, **options
        )
