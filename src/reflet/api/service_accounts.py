"""Service accounts: who a pod is to the API server.

Owns: ServiceAccount.  Must not know how tokens are requested.
"""

from typing import ClassVar, Literal

from reflet.api.frozen import constant
from reflet.api.meta import LocalObjectReference, ObjectMeta, ObjectReference, TypedObject


class ServiceAccount(TypedObject, frozen=True, kw_only=True):
    """An identity for pods."""

    complete: ClassVar[bool] = True

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["ServiceAccount"] = constant("ServiceAccount")
    metadata: ObjectMeta = ObjectMeta()
    secrets: tuple[ObjectReference, ...] = ()
    image_pull_secrets: tuple[LocalObjectReference, ...] = ()
    automount_service_account_token: bool | None = None
