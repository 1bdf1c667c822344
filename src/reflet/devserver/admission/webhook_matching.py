"""Which webhooks a write concerns: rules, match policy, selectors, and the order of calls.

``matchConditions`` are not evaluated: a webhook is called as if all of them held.

Upstream: apiserver/pkg/admission/plugin/webhook/generic/webhook.go, ShouldCallHook;
plugin/webhook/predicates/{rules,namespace,object};
apiserver/pkg/admission/configuration/mutating_webhook_manager.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

from reflet.api.selectors.labels import LabelSelector
from reflet.apirules import refusals
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.admission.attributes import AdmittedTarget, Attributes

ANY: Final = "*"
NAMESPACES: Final = "namespaces"
EVERYTHING: Final = LabelSelector()
DEFAULT_TIMEOUT: Final = 10  # seconds

# What configures admission is not admitted: a webhook could lock everybody out for good.
_EXEMPT: Final = frozenset(
    {
        *("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
        *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
        *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
    }
)
_EXEMPT_GROUP: Final = "admissionregistration.k8s.io"

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Rule:
    """Writes that a webhook wants to see; ``*`` stands for all."""

    operations: tuple[str, ...]
    groups: tuple[str, ...]
    versions: tuple[str, ...]
    resources: tuple[str, ...]
    scope: str = ANY

    @classmethod
    def read(cls, rule: Mapping[str, Any]) -> Rule:
        """Read a rule of a configuration."""
        operations, groups, versions, resources = (
            tuple(rule.get(part) or ())
            for part in ("operations", "apiGroups", "apiVersions", "resources")
        )
        return cls(operations, groups, versions, resources, rule.get("scope") or ANY)

    def matches(self, kind: ServedKind, subresource: str, operation: str) -> bool:
        """Whether it is about a write to a kind, or to a subresource of it."""
        is_about = (
            _among(self.operations, operation)
            and _among(self.groups, kind.group)
            and _among(self.versions, kind.version)
            and any(_names(each, kind.plural, subresource) for each in self.resources)
        )
        return is_about and (self.scope == ANY or (self.scope == "Namespaced") is kind.namespaced)


def _among(wanted: tuple[str, ...], found: str) -> bool:
    return ANY in wanted or found in wanted


def _names(pattern: str, plural: str, subresource: str) -> bool:
    wanted, _, below = pattern.partition("/")
    return wanted in {ANY, plural} and below in {ANY, subresource}


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook of a configuration, with everything defaulted."""

    configuration: str
    index: int
    name: str
    rules: tuple[Rule, ...]
    client_config: Mapping[str, Any]
    namespace_selector: LabelSelector = EVERYTHING
    object_selector: LabelSelector = EVERYTHING
    takes_equivalents: bool = True
    ignores_failures: bool = False
    is_reinvoked: bool = False
    supports_dry_run: bool = True
    timeout: int = DEFAULT_TIMEOUT
    review_versions: tuple[str, ...] = ("v1",)

    @property
    def uid(self) -> tuple[str, int]:
        """What tells it from all others of its sort."""
        return self.configuration, self.index


def webhooks_of(configuration: Mapping[str, Any]) -> tuple[Webhook, ...]:
    """Read the webhooks of a configuration as it is stored, in their order."""
    name = configuration["metadata"]["name"]
    return tuple(
        Webhook(
            configuration=name,
            index=index,
            name=webhook.get("name", ""),
            rules=tuple(Rule.read(rule) for rule in webhook.get("rules") or ()),
            client_config=webhook.get("clientConfig") or {},
            namespace_selector=_selector(webhook.get("namespaceSelector")),
            object_selector=_selector(webhook.get("objectSelector")),
            takes_equivalents=webhook.get("matchPolicy") != "Exact",
            ignores_failures=webhook.get("failurePolicy") == "Ignore",
            is_reinvoked=webhook.get("reinvocationPolicy") == "IfNeeded",
            supports_dry_run=webhook.get("sideEffects") in {"None", "NoneOnDryRun"},
            timeout=webhook.get("timeoutSeconds") or DEFAULT_TIMEOUT,
            review_versions=tuple(webhook.get("admissionReviewVersions") or ()),
        )
        for index, webhook in enumerate(configuration.get("webhooks") or ())
    )


def _selector(selector: Mapping[str, Any] | None) -> LabelSelector:
    found = selector or {}
    expressions = (
        SimpleNamespace(key=each["key"], operator=each["operator"], values=each.get("values") or ())
        for each in found.get("matchExpressions") or ()
    )
    return LabelSelector.from_label_selector(found.get("matchLabels"), expressions)


def is_exempt(kind: ServedKind) -> bool:
    """Whether no webhook is ever asked about a kind."""
    return kind.group == _EXEMPT_GROUP and kind.plural in _EXEMPT


def invoked_kind(
    webhook: Webhook, target: AdmittedTarget, equivalents: Iterable[ServedKind]
) -> ServedKind | None:
    """Give the kind, in the version, as which a webhook wants to see a write; None if it does not.

    ``equivalents`` are all versions in which the same objects are served.
    """
    kind, subresource, operation = target
    if any(rule.matches(kind, subresource, operation) for rule in webhook.rules):
        return kind
    if not webhook.takes_equivalents:
        return None
    others = [each for each in equivalents if each.api_version != kind.api_version]
    for rule in webhook.rules:
        for other in others:
            if rule.matches(other, subresource, operation):
                return other
    return None


def is_selected(
    webhook: Webhook, attributes: Attributes, labels_of: Callable[[str], Labels | None]
) -> bool:
    """Whether the selectors of a webhook take a write; ``labels_of`` gives those of a namespace.

    Raises NotFound where a selector asks for a namespace that is not there.
    """
    selector = webhook.object_selector
    if not selector.selects_everything and not any(
        each is not None and selector.matches(_labels(each))
        for each in (attributes.object, attributes.old)
    ):
        return False
    selector = webhook.namespace_selector
    is_namespace = attributes.kind.plural == NAMESPACES
    if selector.selects_everything or not (attributes.namespace or is_namespace):
        return True
    found: Labels | None
    if is_namespace and not attributes.subresource and attributes.object is not None:
        found = _labels(attributes.object)  # as they will be
    else:
        found = labels_of(attributes.namespace)
    if found is None:
        raise refusals.not_found(NAMESPACES, attributes.namespace)
    return selector.matches(found)


def _labels(document: Mapping[str, Any]) -> Labels:
    return (document.get("metadata") or {}).get("labels") or {}


def in_order(configurations: Mapping[str, Sequence[Webhook]]) -> tuple[Webhook, ...]:
    """Give the webhooks of all configurations in the order of calls: by name, then as written."""
    return tuple(webhook for name in sorted(configurations) for webhook in configurations[name])
