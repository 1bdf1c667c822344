"""What is there from the start: the namespaces, and the service ``kubernetes``.

Owns: these objects.  They are made like any others, by the server's own name.  Must not know
how they are stored.
"""

from __future__ import annotations

from typing import Any, Final

from reflet.devserver.storage.changes import Key
from reflet.devserver.verbs.options import WriteOptions
from reflet.devserver.verbs.state import NAMESPACES, SERVICES, State
from reflet.devserver.verbs.writing import SERVER, Writing

Document = dict[str, Any]

FIRST_NAMESPACES: Final = ("kube-system", "kube-public", "kube-node-lease", "default")
KUBERNETES: Final = "kubernetes"


def plant(state: State, port: int) -> None:
    """Make what is missing; what is there already stays as it is."""
    for name in FIRST_NAMESPACES:
        if state.storage.get(Key(NAMESPACES, "", name)) is None:
            _create(state, "v1", NAMESPACES, "", {"metadata": {"name": name}})
    _kubernetes_service(state, port)


def _kubernetes_service(state: State, port: int) -> None:
    if state.storage.get(Key(SERVICES, "default", KUBERNETES)) is not None:
        return
    service: Document = {
        "metadata": {
            "name": KUBERNETES,
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "type": "ClusterIP",
            "clusterIP": state.addresses.kubernetes_address,
            "ipFamilyPolicy": "SingleStack",
            "sessionAffinity": "None",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": port}],
        },
    }
    _create(state, "v1", SERVICES, "default", service)


def _create(state: State, version: str, plural: str, namespace: str, document: Document) -> None:
    kind = state.kinds.by_resource("", version, plural)
    if kind is None:
        raise LookupError(f"{plural} are not served")
    writing = Writing(state, kind, namespace, WriteOptions(manager=SERVER))
    writing.create(writing.checked(document))
