"""How callers hand over ConfigMaps and Secrets: managers, stores, files or a test's own.

``ObjectSource`` is the interface, ``ObjectsInHand`` the plainest that fits it, ``ObjectReader`` the
look-up of one computation, which asks again for what was missing, as the kubelet does.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, Protocol, final

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.frozen import EMPTY
from reflet.errors import NotFound, RefletError

ConfigKind = Literal["ConfigMap", "Secret"]
"""The kinds that hold configuration."""

LARGEST_OBJECT: Final = 1 << 20  # bytes of all values together, what the API server accepts

ObjectKey = tuple[ConfigKind, str, str]
"""Kind, namespace and name."""


class ObjectSource(Protocol):
    """Answers at once for any ConfigMap or Secret: the object, or why there is none.

    ``NotFound`` means that it does not exist, which optional references forgive; any other
    error is forgiven to nobody.

    - *namespace*: namespace of the object
    - *name*: name of the object
    """

    def config_map(self, namespace: str, name: str, /) -> ConfigMap | RefletError:
        """Return the ConfigMap, or the error of reading it."""

    def secret(self, namespace: str, name: str, /) -> Secret | RefletError:
        """Return the Secret, or the error of reading it."""


@final
class ObjectsInHand:
    """A source of objects that are all there; what is not there does not exist.

    ``failures`` are errors to answer with instead: what could not be read.

    - *objects*: every object there is
    - *failures*: errors to answer with, by object: what could not be read
    """

    __slots__ = ("_config_maps", "_failures", "_secrets")

    def __init__(
        self,
        objects: Iterable[ConfigMap | Secret] = (),
        *,
        failures: Mapping[ObjectKey, RefletError] = EMPTY,
    ) -> None:
        self._config_maps: dict[tuple[str, str], ConfigMap] = {}
        self._secrets: dict[tuple[str, str], Secret] = {}
        self._failures = dict(failures)
        for item in objects:
            key = (item.metadata.namespace, item.metadata.name)
            if isinstance(item, ConfigMap):
                self._config_maps[key] = item
            else:
                self._secrets[key] = item

    def config_map(self, namespace: str, name: str, /) -> ConfigMap | RefletError:
        """Return the ConfigMap, or the error of reading it."""
        failure = self._failures.get(("ConfigMap", namespace, name))
        if failure is not None:
            return failure
        return self._config_maps.get((namespace, name)) or missing("ConfigMap", name)

    def secret(self, namespace: str, name: str, /) -> Secret | RefletError:
        """Return the Secret, or the error of reading it."""
        failure = self._failures.get(("Secret", namespace, name))
        if failure is not None:
            return failure
        return self._secrets.get((namespace, name)) or missing("Secret", name)


@final
class ObjectReader:
    """Reads objects of one namespace for one computation, each found one only once.

    What was missing is asked for again by the next reference, as the kubelet does.
    """

    __slots__ = ("_found", "_namespace", "_source")

    def __init__(self, source: ObjectSource, namespace: str) -> None:
        self._source = source
        self._namespace = namespace
        self._found: dict[tuple[ConfigKind, str], ConfigMap | Secret] = {}

    def get(self, kind: ConfigKind, name: str) -> ConfigMap | Secret | RefletError:
        """Return the object, or the error of reading it."""
        found = self._found.get((kind, name))
        if found is not None:
            return found
        answer = (
            self._source.config_map(self._namespace, name)
            if kind == "ConfigMap"
            else self._source.secret(self._namespace, name)
        )
        if not isinstance(answer, RefletError):
            self._found[kind, name] = answer
        return answer


def missing(kind: ConfigKind, name: str) -> NotFound:
    """Return the error that the kubelet's caches give for an object that is not there."""
    resource = kind.lower()
    return NotFound(
        f'{resource} "{name}" not found', code=404, reason="NotFound", kind=resource, name=name
    )


def size_of(item: ConfigMap | Secret) -> int:
    """Return the bytes of all values together, which is what the API server limits."""
    if isinstance(item, Secret):
        return sum(map(len, item.data.values()))
    texts = sum(len(text.encode(errors="surrogatepass")) for text in item.data.values())
    return texts + sum(map(len, item.binary_data.values()))


def value_bytes(item: ConfigMap | Secret) -> Mapping[str, bytes]:
    """Return every key with its bytes, in the order of the keys; binary data wins over text."""
    if isinstance(item, Secret):
        return {key: item.data[key] for key in sorted(item.data)}
    values = {key: text.encode(errors="surrogatepass") for key, text in item.data.items()}
    values.update(item.binary_data)
    return {key: values[key] for key in sorted(values)}
