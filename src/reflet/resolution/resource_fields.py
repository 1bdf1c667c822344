"""Limits and requests of containers as values: where missing limits come from, and the division.

Upstream: pkg/api/v1/resource/helpers.go, ExtractContainerResourceValue and
MergeContainerResourceLimits
"""

from collections.abc import Iterable, Mapping
from typing import Final, final

from reflet.api.core.containers import Container, ResourceFieldSelector
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.api.quantities import ZERO, Quantity
from reflet.errors import ParseError
from reflet.resolution.problems import Refused, Unknown

_PLAIN: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_OF_WHOLE_POD: Final = frozenset({"cpu", "memory"})
_HUGE_PAGES: Final = "hugepages-"

Amounts = Mapping[str, str]
"""The text of a quantity by the name of the resource."""


@final
class UnknownNode:
    """Stands for a node that is not known here, although the kubelet would know it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN_NODE"


UNKNOWN_NODE: Final = UnknownNode()
"""For a pod that has no node yet, or whose node nobody may read."""

NodeInHand = Node | UnknownNode | None
"""The pod's node; ``None`` is a kubelet that cannot find its own."""


def variable_resource(
    pod: Pod, container: Container, selector: ResourceFieldSelector, *, node: NodeInHand
) -> str | Refused | Unknown:
    """Return what a variable of ``container`` shows for a limit or request.

    Limits that are absent or zero are those of the pod, else what the node can allocate; those
    of an init container that is named stay as they are.
    """
    if node is None:
        return Refused(text="failed to find node object, expected a node")
    if not selector.container_name:
        return _amount(container, selector, _defaults(pod, node), known=isinstance(node, Node))
    regular = _named(pod.spec.containers, selector.container_name)
    if regular is not None:
        return _amount(regular, selector, _defaults(pod, node), known=isinstance(node, Node))
    init = _named(pod.spec.init_containers, selector.container_name)
    if init is not None:
        return _amount(init, selector, {})
    return Refused(text=f"container {selector.container_name} not found")


def file_resource(
    pod: Pod, selector: ResourceFieldSelector, *, node: NodeInHand
) -> str | Refused | Unknown:
    """Return what a file of a volume shows for a limit or request of the named container.

    Limits that are absent or zero are what the node can allocate.
    """
    if node is None:
        return Refused(text="error retrieving node: failed to find node object, expected a node")
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    container = _named(containers, selector.container_name)
    if container is None:
        return Refused(text=f"container {selector.container_name} not found")
    allocatable = _allocatable(node)
    return _amount(container, selector, allocatable, known=isinstance(node, Node))


def _allocatable(node: Node | UnknownNode) -> Amounts:
    return node.status.allocatable if isinstance(node, Node) else {}


def _defaults(pod: Pod, node: Node | UnknownNode) -> Amounts:
    """Return the limits that fill up missing ones.

    A limit of the pod counts only if the node has the resource at all, which an unknown node
    is trusted to have.
    """
    of_pod = {} if pod.spec.resources is None else pod.spec.resources.limits
    filled = dict(_allocatable(node))
    for name, text in of_pod.items():
        if (name in filled or not isinstance(node, Node)) and _fills(name, text):
            filled[name] = text
    return filled


def _fills(name: str, text: str) -> bool:
    try:
        return name in _OF_WHOLE_POD and bool(Quantity.of(text))
    except ParseError:
        return False


def _named(containers: Iterable[Container], name: str) -> Container | None:
    return next((container for container in containers if container.name == name), None)


def _amount(
    container: Container,
    selector: ResourceFieldSelector,
    defaults: Amounts,
    *,
    known: bool = True,
) -> str | Refused | Unknown:
    side, _, name = selector.resource.partition(".")
    if side not in {"limits", "requests"} or not (name in _PLAIN or name.startswith(_HUGE_PAGES)):
        return Refused(text=f"unsupported container resource : {selector.resource}")
    resources = container.resources
    try:
        amount = _quantity(resources.limits if side == "limits" else resources.requests, name)
        if side == "limits" and name in _PLAIN and not amount:
            if name not in defaults and not known:
                return Unknown(text=f"it is the node's allocatable {name}, and no node is given")
            amount = _quantity(defaults, name)
        divisor = Quantity.of(selector.divisor) if selector.divisor else ZERO
    except ParseError as error:
        return Refused(text=str(error))
    return str(amount.ceil_divide(divisor, in_milli_units=name == "cpu"))


def _quantity(amounts: Amounts, name: str) -> Quantity:
    text = amounts.get(name)
    return ZERO if text is None else Quantity.of(text)
