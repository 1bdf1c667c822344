"""Pods of files, with what the API server would have added.

The defaults are the server's own, from ``manifests``, for a pod that never sees a server.

Upstream: pkg/kubelet/config/common.go, applyDefaults and tryDecodeSinglePod
"""

from __future__ import annotations

import logging

import msgspec
from msgspec.structs import replace

from reflet.api.codec import decode, encode
from reflet.api.core.pods import Pod
from reflet.errors import RefletError
from reflet.manifests.acceptance import Accepting

logger = logging.getLogger(__name__)


def with_defaults(pod: Pod, node: str) -> Pod:
    """Return the pod as the server would store it, bound to *node*.

    One that the server would refuse is returned as it is, and why is logged: its worker will
    find what is missing.
    """
    spec = replace(pod.spec, node_name=node)
    bound = replace(pod, spec=spec)
    accepting = Accepting(pod.metadata.namespace)
    document = msgspec.json.decode(encode(bound))
    try:
        kind = accepting.kind_of(document)
        if kind is None:
            return bound
        _, stored = accepting.accept(kind, document)
        return decode(msgspec.json.encode(stored), Pod)
    except RefletError as error:
        logger.warning("pod %s/%s: %s", pod.metadata.namespace, pod.metadata.name, error)
        return bound
