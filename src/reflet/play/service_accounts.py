"""``serviceaccounts`` of play: ``default`` and the CA's ConfigMap in each namespace.

Upstream: pkg/controller/serviceaccount/serviceaccounts_controller.go;
pkg/controller/certificates/rootcacertpublisher/publisher.go
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from reflet.api.resources import CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS
from reflet.play.actions import Action, Create, NextActions, Patch
from reflet.play.cluster_view import ClusterView, SeenObject
from reflet.play.controller import PlayedController, itself

ACCOUNT: Final = "default"
ROOT_CA: Final = "kube-root-ca.crt"
_DESCRIPTION: Final = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
    "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters."
)


def controller(authority: bytes) -> PlayedController:
    """Makes both wherever one is missing."""
    data = {"ca.crt": authority.decode()}

    async def decide(view: ClusterView, key: str) -> NextActions:
        namespace = view.get(NAMESPACES, key)
        if namespace is None or "deletionTimestamp" in namespace["metadata"]:
            return NextActions()
        actions: list[Action] = []
        if view.get(SERVICE_ACCOUNTS, f"{key}/{ACCOUNT}") is None:
            named = {"name": ACCOUNT, "namespace": key}
            account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": named}
            actions.append(Create(SERVICE_ACCOUNTS, account))
        bundle = view.get(CONFIG_MAPS, f"{key}/{ROOT_CA}")
        if bundle is None:
            metadata = {
                "name": ROOT_CA,
                "namespace": key,
                "annotations": {"kubernetes.io/description": _DESCRIPTION},
            }
            made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
            actions.append(Create(CONFIG_MAPS, made))
        elif bundle.get("data") != data:
            actions.append(Patch(CONFIG_MAPS, bundle, {"data": data}))
        return NextActions(actions)

    def its_namespace(_: ClusterView, seen: SeenObject) -> Iterable[str]:
        if seen.metadata.name in {ACCOUNT, ROOT_CA}:
            yield seen.metadata.namespace

    watches = {NAMESPACES: itself, SERVICE_ACCOUNTS: its_namespace, CONFIG_MAPS: its_namespace}
    return PlayedController("serviceaccounts", watches, decide)
