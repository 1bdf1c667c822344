"""Where a value comes from, in a few words.

Owns: the words.  Must not know values.
"""

from __future__ import annotations

from typing import assert_never

from reflet.resolution.origins import (
    ConfigMapOrigin,
    FieldOrigin,
    FileOrigin,
    Origin,
    ResourceOrigin,
    SecretOrigin,
    ServiceOrigin,
    TokenOrigin,
    TrustBundleOrigin,
    ValueOrigin,
)


def origin_text(origin: Origin) -> str:
    """Return the source as people name it: ``configmap/settings LOG_LEVEL``."""
    match origin:
        case ValueOrigin(substitutions=substitutions):
            return "value, expanded" if substitutions else "value"
        case ConfigMapOrigin(name=name, key=key):
            return f"configmap/{name} {key}"
        case SecretOrigin(name=name, key=key):
            return f"secret/{name} {key}"
        case ServiceOrigin(namespace=namespace, name=name):
            return f"service/{name} in {namespace}"
        case FieldOrigin(path=path):
            return path
        case ResourceOrigin(resource=resource, container=container):
            return f"{resource} of {container}" if container else resource
        case FileOrigin(volume=volume, path=path, key=key):
            return f"file {path} of {volume}, {key}"
        case TokenOrigin(service_account=account):
            return f"token of {account or 'default'}"
        case TrustBundleOrigin(name=name, signer_name=signer):
            return f"clustertrustbundle/{name}" if name else f"trust bundles of {signer}"
        case _:
            assert_never(origin)
