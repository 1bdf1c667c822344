"""What could be read once stays known while nobody can tell whether it has changed.

Owns: which failures say something about an object, and which only that nobody answered.  Must
not know what is computed from the objects.
"""

from __future__ import annotations

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.errors import (
    ApiError,
    CacheNotSynced,
    CredentialsError,
    DecodeError,
    Forbidden,
    NotFound,
    NotRegistered,
    RefletError,
    TransportError,
)
from reflet.managers.manager import ConfigMapManager, SecretManager
from reflet.managers.pod_objects import objects_of
from reflet.resolution.objects import ObjectKey, ObjectsInHand
from reflet.resolution.references import config_map_names, secret_names


class LastKnownObjects:
    """Reads a pod's objects, and remembers them for when the server is away.

    That an object does not exist, or may not be read, is an answer, and replaces what was known.
    A server that is away, overloaded or not yet caught up has not answered.
    """

    def __init__(self, config_maps: ConfigMapManager, secrets: SecretManager) -> None:
        self._config_maps = config_maps
        self._secrets = secrets
        self._known: dict[ObjectKey, ConfigMap | Secret] = {}

    async def read(self, pod: Pod) -> ObjectsInHand:
        """Read whatever the pod refers to; what it no longer refers to is forgotten."""
        namespace = pod.metadata.namespace
        objects = await objects_of(pod, self._config_maps, self._secrets)
        answers: dict[ObjectKey, ConfigMap | Secret | RefletError] = {}
        for name in config_map_names(pod):
            answers["ConfigMap", namespace, name] = objects.config_map(namespace, name)
        for name in secret_names(pod):
            answers["Secret", namespace, name] = objects.secret(namespace, name)
        known: dict[ObjectKey, ConfigMap | Secret] = {}
        failures: dict[ObjectKey, RefletError] = {}
        for key, answer in answers.items():
            if not isinstance(answer, RefletError):
                known[key] = answer
            elif is_no_answer(answer) and key in self._known:
                known[key] = self._known[key]
            elif not isinstance(answer, NotFound):
                failures[key] = answer
        self._known = known
        return ObjectsInHand(known.values(), failures=failures)


def is_no_answer(error: RefletError) -> bool:
    """Whether the error says nothing about the object, only that nobody could tell."""
    if isinstance(error, NotRegistered):
        return True  # a pod that is just being replaced
    if isinstance(error, CacheNotSynced):
        # Its cause is what the server said, where it said something.
        return not isinstance(error.__cause__, Forbidden)
    if isinstance(error, ApiError):
        return error.code >= 500 or error.code == 429
    # No connection, no token for it, or an answer that came garbled.
    return isinstance(error, (TransportError, CredentialsError, DecodeError))
