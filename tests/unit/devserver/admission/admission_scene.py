"""Writes and webhooks for tests of admission."""

from __future__ import annotations

from typing import Any

from reflet.devserver.admission.attributes import AdmittedTarget, Attributes, Operation
from reflet.devserver.admission.webhook_matching import Webhook, webhooks_of
from tests.unit.devserver.object_scene import kind_of
from tests.webhook_scenes import configuration, webhook


def target(
    resource: str = "configmaps", operation: Operation = "CREATE", subresource: str = ""
) -> AdmittedTarget:
    plural, _, group = resource.partition(".")
    return AdmittedTarget(kind_of(plural, group), subresource, operation)


def attributes(
    resource: str = "configmaps", operation: Operation = "CREATE", **more: Any
) -> Attributes:
    plural, _, group = resource.partition(".")
    given = {
        "name": "c",
        "namespace": "shop",
        "object": {"metadata": {"name": "c"}},
        **more,
    }
    return Attributes(operation, kind_of(plural, group), **given)


def read(**options: Any) -> Webhook:
    """Read a webhook that sees everything unless ``options`` say otherwise."""
    config = configuration("hooks", webhook("one", {"url": "https://here"}, **options))
    return webhooks_of(config)[0]


def rule(*resources: str, **more: Any) -> dict[str, Any]:
    usual = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"]}
    return {**usual, "resources": list(resources), **more}
