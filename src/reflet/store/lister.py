"""Reading a store by namespace, name and selector; it cannot change the store.

Upstream: client-go/tools/cache/listers.go, GenericLister, GenericNamespaceLister
"""

from __future__ import annotations

from typing import Generic, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.api.selectors.labels import LabelSelector
from reflet.api.status import not_found
from reflet.store.indexes import NAMESPACE
from reflet.store.store import Store

T = TypeVar("T", bound=KubernetesObject)


class Lister(Generic[T]):
    """A read-only view of a store; *resource* is the word for its objects in errors.

    - *store*: what is read
    - *group*: API group of the objects, for errors
    """

    def __init__(self, store: Store[T], resource: str, *, group: str = "") -> None:
        self._store = store
        self._resource = resource
        self._group = group

    def list(self, selector: LabelSelector | str = "", *, namespace: str | None = None) -> list[T]:
        """The objects whose labels match, of one namespace or of all; one consistent state.

        - *namespace*: None is all of them
        """
        if isinstance(selector, str):
            selector = LabelSelector.parse(selector)
        if selector.selects_nothing:
            return []
        store = self._store
        found = store.by_index(NAMESPACE, namespace) if namespace else store.objects()
        if selector.selects_everything:
            return found
        return [item for item in found if selector.matches(item.metadata.labels)]

    def get(self, name: str, *, namespace: str = "") -> T:
        """One object; NotFound when it is not there.

        - *name*: name of the object
        - *namespace*: empty for an object without a namespace
        """
        found = self._store.get(f"{namespace}/{name}" if namespace else name)
        if found is None:
            raise not_found(self._resource, name, self._group)
        return found

    def in_namespace(self, namespace: str) -> NamespaceLister[T]:
        """The same for one namespace.

        - *namespace*: the namespace
        """
        return NamespaceLister(self, namespace)


class NamespaceLister(Generic[T]):
    """A read-only view of one namespace.

    - *lister*: what is read
    - *namespace*: the namespace
    """

    def __init__(self, lister: Lister[T], namespace: str) -> None:
        self._lister = lister
        self._namespace = namespace

    def list(self, selector: LabelSelector | str = "") -> list[T]:
        """The objects whose labels match."""
        return self._lister.list(selector, namespace=self._namespace)

    def get(self, name: str) -> T:
        """One object; NotFound when it is not there.

        - *name*: name of the object
        """
        return self._lister.get(name, namespace=self._namespace)
