"""The runtime handler that a pod's RuntimeClass names.

A class is asked for when a sandbox is made, so that a node without such pods asks nothing and a new
class is known at once.  While the server cannot be reached, what it said last counts: the handler
of a class never changes.

Upstream: pkg/kubelet/runtimeclass/runtimeclass_manager.go, LookupRuntimeHandler
"""

from __future__ import annotations

from reflet.api import resources
from reflet.api.core.pods import Pod
from reflet.client.client import Client
from reflet.errors import NotFound, RefletError


class UnknownRuntimeClass(RefletError):
    """A pod names a RuntimeClass that does not exist, or that cannot be read."""


class RuntimeClasses:
    """The RuntimeClasses that *client* can read."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._handlers: dict[str, str] = {}

    async def handler_of(self, pod: Pod) -> str:
        """The handler for a pod's sandbox, empty for the runtime's own choice.

        Raises UnknownRuntimeClass, in the kubelet's words.
        """
        name = pod.spec.runtime_class_name
        if not name:
            return ""
        classes = self._client.resource(resources.RUNTIME_CLASSES, raw=True)
        try:
            found = await classes.get(name)
        except NotFound as error:
            self._handlers.pop(name, None)
            raise UnknownRuntimeClass(f'runtimeclass.node.k8s.io "{name}" not found') from error
        except RefletError as error:
            if name in self._handlers:
                return self._handlers[name]
            raise UnknownRuntimeClass(f"failed to lookup RuntimeClass {name}: {error}") from error
        handler = self._handlers[name] = str(found.content.get("handler", ""))
        return handler
