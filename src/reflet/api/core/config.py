"""ConfigMaps and Secrets: the configuration of pods, public and secret.

Upstream: k8s.io/api/core/v1/types.go, ConfigMap, Secret
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from msgspec import structs

from reflet.api.frozen import EMPTY, Frozen, constant
from reflet.api.meta import Hidden, ObjectMeta, TypedObject


class ConfigMap(TypedObject, frozen=True, kw_only=True):
    """Non-secret configuration: text in ``data``, bytes in ``binary_data``."""

    complete: ClassVar[bool] = True

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["ConfigMap"] = constant("ConfigMap")
    metadata: ObjectMeta = ObjectMeta()
    data: Mapping[str, str] = EMPTY
    binary_data: Mapping[str, bytes] = EMPTY
    immutable: bool = False


class Secret(TypedObject, frozen=True, kw_only=True):
    """Secret configuration: bytes in ``data``; ``string_data`` is only ever sent.

    Its representation shows keys and sizes, never values.
    """

    complete: ClassVar[bool] = True

    api_version: Literal["v1"] = constant("v1")
    kind: Literal["Secret"] = constant("Secret")
    metadata: ObjectMeta = ObjectMeta()
    data: Mapping[str, bytes] = EMPTY
    string_data: Mapping[str, str] = EMPTY
    type: str = ""
    immutable: bool = False

    def _presentable(self) -> "Secret":
        hidden: dict[str, Any] = {
            key: Hidden("secret", len(value)) for key, value in self.data.items()
        }
        hidden_text: dict[str, Any] = {
            key: Hidden("secret", len(value.encode(errors="surrogatepass")))
            for key, value in self.string_data.items()
        }
        return structs.replace(self, data=hidden, string_data=hidden_text)

    def __repr__(self) -> str:
        return Frozen.__repr__(self._presentable())

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return Frozen.__rich_repr__(self._presentable())
