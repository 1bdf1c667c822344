"""Fields of a pod as values: the downward API.

Variables know more paths than files do: the addresses, the node and the service account.
Addresses are read leniently, with zeros in front of IPv4 numbers, and written in one way, as the
kubelet does; keys of labels and annotations are checked in the API server's words.

Upstream: pkg/fieldpath/fieldpath.go, ExtractFieldPathAsString; pkg/kubelet/kubelet_pods.go,
podFieldSelectorRuntimeValue
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from types import MappingProxyType
from typing import Final

from reflet.api.core.containers import ObjectFieldSelector
from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.gotext.lazy_patterns import lazy_pattern
from reflet.gotext.quoting import quoted, quoted_map
from reflet.resolution.problems import Refused, Unknown

_SUBSCRIPTED: Final = frozenset({"metadata.annotations", "metadata.labels"})
_METADATA: Final[Mapping[str, Callable[[ObjectMeta], str]]] = MappingProxyType(
    {
        "metadata.annotations": lambda metadata: quoted_map(metadata.annotations),
        "metadata.labels": lambda metadata: quoted_map(metadata.labels),
        "metadata.name": lambda metadata: metadata.name,
        "metadata.namespace": lambda metadata: metadata.namespace,
        "metadata.uid": lambda metadata: metadata.uid,
    }
)
_ACCEPTED: Final = frozenset(
    {
        *_METADATA,
        *("spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs"),
        *("status.podIP", "status.podIPs"),
        # Accepted by the first check, and refused when the value is looked for.
        *("spec.restartPolicy", "spec.schedulerName", "status.phase"),
    }
)
_OLD_NAMES: Final[Mapping[str, str]] = MappingProxyType({"spec.host": "spec.nodeName"})
NEVER_EMPTY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "metadata.name": "the pod has no name yet",
        "metadata.namespace": "the pod has no namespace yet",
        "metadata.uid": "the pod has not been created yet",
        "spec.nodeName": "the pod has not been scheduled yet",
        "spec.serviceAccountName": "the pod has not been created yet",
        "status.podIP": "the pod has no address yet",
        "status.podIPs": "the pod has no address yet",
    }
)
"""Fields that every running pod has, and why they may be empty here."""


Address = IPv4Address | IPv6Address
"""Either family; an IPv4 address inside an IPv6 one counts as IPv4."""
_FOUR_NUMBERS: Final = lazy_pattern(r"[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+", re.ASCII)
_LONGEST: Final = 255  # characters; no address is longer, zeros in front included
_NAME_PATTERN: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_PATTERN: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_PREFIX_PATTERN: Final = rf"{_LABEL_PATTERN}(\.{_LABEL_PATTERN})*"
_NAME: Final = lazy_pattern(_NAME_PATTERN)
_PREFIX: Final = lazy_pattern(_PREFIX_PATTERN)
_LONGEST_NAME: Final = 63
_LONGEST_PREFIX: Final = 253
_NAME_RULE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    f"validation is '{_NAME_PATTERN}')"
)
_PREFIX_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_PREFIX_PATTERN}')"
)
_WHOLE_RULE: Final = (
    f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and '/' "
    "(e.g. 'example.com/MyName')"
)


def variable_field(
    pod: Pod,
    selector: ObjectFieldSelector,
    *,
    node: Node | None = None,
    pod_ips: Sequence[str] | None = None,
) -> str | Refused | Unknown:
    """Return what a variable shows for a field; ``Unknown`` is what only a running pod has.

    ``pod_ips`` are the addresses of the pod's sandbox, instead of those in its status.  The
    node's addresses come from the node, or else from the pod's status.
    """
    path = accepted_path(selector.api_version, selector.field_path)
    if isinstance(path, Refused):
        return path
    value: str | Refused | Unknown
    match path:
        case "spec.nodeName":
            value = pod.spec.node_name
        case "spec.serviceAccountName":
            value = pod.spec.service_account_name
        case "status.hostIP" | "status.hostIPs":
            addresses = host_addresses(pod, node)
            if not isinstance(addresses, tuple):
                return addresses
            value = addresses[0] if path == "status.hostIP" else ",".join(addresses)
        case "status.podIP":
            given = _given_addresses(pod, pod_ips)
            value = (*_ordered(pod, node, given), *given, "")[0]
        case "status.podIPs":
            value = ",".join(_ordered(pod, node, _given_addresses(pod, pod_ips)))
        case _:
            value = file_field(pod, path)
    if value == "" and path in NEVER_EMPTY:
        return Unknown(text=NEVER_EMPTY[path])
    return value


def file_field(pod: Pod, path: str) -> str | Refused:
    """Return what a file of a volume shows for a field: only metadata, an empty one as it is."""
    field, subscript = split_subscript(path)
    if subscript is None:
        read = _METADATA.get(path)
        return (
            Refused(text=f"unsupported fieldPath: {path}") if read is None else read(pod.metadata)
        )
    if field not in _SUBSCRIPTED:
        return Refused(text=f"fieldPath {quoted(path)} does not support subscript")
    of_annotations = field == "metadata.annotations"
    complaints = complaints_about(subscript.lower() if of_annotations else subscript)
    if complaints:
        return Refused(text=f"invalid key subscript in {path}: {';'.join(complaints)}")
    values = pod.metadata.annotations if of_annotations else pod.metadata.labels
    return values.get(subscript, "")


def accepted_path(version: str, path: str) -> str | Refused:
    """Return the path by its present name, if variables may name it at all."""
    if version != "v1":
        return Refused(text=f"unsupported pod version: {version}")
    field, subscript = split_subscript(path)
    if subscript is not None:
        if field in _SUBSCRIPTED:
            return path
        return Refused(text=f"field label does not support subscript: {path}")
    path = _OLD_NAMES.get(path, path)
    return path if path in _ACCEPTED else Refused(text=f"field label not supported: {path}")


def split_subscript(path: str) -> tuple[str, str | None]:
    """Split ``metadata.labels['key']`` into field and key; without a key it is ``None``."""
    if path.endswith("']"):
        field, opening, key = path[:-2].partition("['")
        if field and opening:
            return field, key
    return path, None


def host_addresses(pod: Pod, node: Node | None) -> tuple[str, ...] | Refused | Unknown:
    """Return the node's addresses: the main one, and one of the other family if it has one."""
    if node is None:
        reported = tuple(item.ip for item in pod.status.host_ips) or (pod.status.host_ip,)
        known = tuple(address for address in reported if address)
        return known or Unknown(text="the node of the pod is not known")
    by_type: dict[str, list[str]] = {"InternalIP": [], "ExternalIP": []}
    for address in node.status.addresses:
        if address.type in by_type and parse_address(address.address) is not None:
            by_type[address.type].append(address.address)
    texts = [text for texts in by_type.values() for text in texts]
    if not texts:
        known_ones = " ".join(f"{{{item.type} {item.address}}}" for item in node.status.addresses)
        return Refused(text=f"host IP unknown; known addresses: [{known_ones}]")
    return one_of_each_family(texts, first=_family(texts[0]))


def _given_addresses(pod: Pod, pod_ips: Sequence[str] | None) -> tuple[str, ...]:
    if pod_ips is not None:
        return tuple(pod_ips)
    reported = tuple(item.ip for item in pod.status.pod_ips if item.ip)
    return reported or ((pod.status.pod_ip,) if pod.status.pod_ip else ())


def _ordered(pod: Pod, node: Node | None, given: Sequence[str]) -> tuple[str, ...]:
    hosts = host_addresses(pod, node)
    main = _family(hosts[0]) if isinstance(hosts, tuple) else 4
    return one_of_each_family(given, first=main)


def _family(text: str) -> int:
    address = parse_address(text)
    return 4 if address is None else address.version


def parse_address(text: str) -> Address | None:
    """Return the address, or ``None`` for text that is none."""
    if len(text) > _LONGEST or "%" in text or "/" in text:
        return None
    head, colon, tail = text.rpartition(":")
    if _FOUR_NUMBERS.fullmatch(tail):
        tail = ".".join(str(int(number)) for number in tail.split("."))
    try:
        if not colon:
            return IPv4Address(tail)
        address = IPv6Address(f"{head}:{tail}")
    except AddressValueError:
        return None
    return address.ipv4_mapped or address


def one_of_each_family(texts: Iterable[str], *, first: int = 4) -> tuple[str, ...]:
    """Return the first address of family ``first`` and the first of the other, rewritten."""
    found: dict[int, str] = {}
    for text in texts:
        address = parse_address(text)
        if address is not None:
            found.setdefault(address.version, str(address))
    return tuple(found[version] for version in (first, 10 - first) if version in found)


def complaints_about(name: str) -> list[str]:
    """Return what is wrong with a qualified name, in Kubernetes' words; empty when it is valid."""
    parts = name.split("/")
    if len(parts) > 2:
        return [_WHOLE_RULE]
    complaints = _about_prefix(parts[0]) if len(parts) == 2 else []
    own = parts[-1]
    if not own:
        complaints.append("name part must be non-empty")
    elif _size(own) > _LONGEST_NAME:
        complaints.append(f"name part must be no more than {_LONGEST_NAME} bytes")
    if not _NAME.fullmatch(own):
        complaints.append(f"name part {_NAME_RULE}")
    return complaints


def _about_prefix(prefix: str) -> list[str]:
    if not prefix:
        return ["prefix part must be non-empty"]
    complaints = []
    if _size(prefix) > _LONGEST_PREFIX:
        complaints.append(f"prefix part must be no more than {_LONGEST_PREFIX} bytes")
    if not _PREFIX.fullmatch(prefix):
        complaints.append(f"prefix part {_PREFIX_RULE}")
    return complaints


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))
