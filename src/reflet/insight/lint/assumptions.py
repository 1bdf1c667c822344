"""What other systems create, so that lint does not miss it: ``secret/db``, ``cm/settings:key``."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Final, final

from reflet.api.frozen import Frozen
from reflet.errors import ConfigurationError

_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "ConfigMap": ("cm", "configmap", "configmaps"),
    "Secret": ("secret", "secrets"),
    "ServiceAccount": ("sa", "serviceaccount", "serviceaccounts"),
    "PriorityClass": ("pc", "priorityclass", "priorityclasses"),
    "PersistentVolumeClaim": ("pvc", "persistentvolumeclaim", "persistentvolumeclaims"),
    "RuntimeClass": ("runtimeclass", "runtimeclasses"),
}
_WITH_KEYS: Final = frozenset({"ConfigMap", "Secret"})
_WITHOUT_NAMESPACE: Final = frozenset({"PriorityClass", "RuntimeClass"})
_BY_NAME: Final = {name: kind for kind, names in _KINDS.items() for name in names}


class Assumption(Frozen, frozen=True, kw_only=True):
    """One object or key that is taken to exist; every part but the kind is a pattern."""

    text: str
    kind: str
    namespace: str
    name: str
    key: str

    @classmethod
    def parse(cls, text: str) -> "Assumption":
        """Read ``TYPE/NAME``, ``TYPE/NAME:KEY`` or either behind ``NAMESPACE/``.

        Raises ConfigurationError for anything else.
        """
        target, colon, key = text.strip().partition(":")
        parts = target.split("/")
        namespace = parts.pop(0) if len(parts) == 3 else ""
        kind = _BY_NAME.get(parts[0].lower(), "") if len(parts) == 2 else ""
        if not kind or not parts[1] or (colon and not key):
            raise ConfigurationError(
                f"{text!r} is nothing to assume: write secret/NAME, cm/NAME:KEY or "
                f"NAMESPACE/secret/NAME; the types are {', '.join(_KINDS)}"
            )
        if key and kind not in _WITH_KEYS:
            raise ConfigurationError(f"{text!r}: a {kind} has no keys")
        if namespace and kind in _WITHOUT_NAMESPACE:
            raise ConfigurationError(f"{text!r}: a {kind} is in no namespace")
        return cls(
            text=text.strip(), kind=kind, namespace=namespace or "*", name=parts[1], key=key or "*"
        )

    def covers(self, kind: str, namespace: str, name: str, key: str) -> bool:
        """Say whether this is the object, or the key of it, that is meant."""
        return (
            kind == self.kind
            and fnmatchcase(name, self.name)
            and fnmatchcase(namespace, self.namespace)
            and (not key or fnmatchcase(key, self.key))
        )


@final
class Assumptions:
    """What is taken to exist.  Remembers which assumptions were of use.

    Ask only for what is missing, or those count as used that are not needed.
    """

    __slots__ = ("_every", "_used")

    def __init__(self, texts: Iterable[str] = ()) -> None:
        """Raises ConfigurationError for a text that is no assumption."""
        self._every = tuple(Assumption.parse(text) for text in dict.fromkeys(texts))
        self._used: set[str] = set()

    def has(self, kind: str, namespace: str, name: str, key: str = "") -> bool:
        """Say whether the object, or a key of it, is taken to exist.

        An object exists of which a key is assumed, and one that is assumed has every key.
        """
        covering = [each.text for each in self._every if each.covers(kind, namespace, name, key)]
        self._used.update(covering)
        return bool(covering)

    def unused(self) -> tuple[str, ...]:
        """Return what was assumed so far without need, as it was written."""
        return tuple(each.text for each in self._every if each.text not in self._used)


NOTHING: Final = Assumptions()
"""Nothing is assumed."""
