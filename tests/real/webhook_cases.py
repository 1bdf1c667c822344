"""Webhooks that answer in all the ways that matter, and what is sent to servers that call them.

Owns: the cases as data.  Must not know the servers, nor what is compared.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.real.certificates import Authority
from tests.real.differential.script import (
    CONFIG_MAPS,
    CORE,
    PODS,
    Ask,
    delete,
    patch,
    post,
)
from tests.webhook_scenes import (
    Document,
    Raw,
    Reply,
    WebhookServer,
    allow,
    deny,
    patching,
    webhook,
)

Sort = Literal["mutating", "validating"]


def config_map(case: str, **more: Any) -> Document:
    labels = {"case": case}
    return {"metadata": {"name": case, "labels": labels}, "data": {"key": "value"}, **more}


def pod(case: str) -> Document:
    spec = {"containers": [{"name": "web", "image": "nginx"}]}
    return {"metadata": {"name": case, "labels": {"case": case}}, "spec": spec}


@dataclass(frozen=True, slots=True)
class Case:
    """One webhook, called for objects that have its ``label``, or name, as their label ``case``.

    ``where`` makes its clientConfig, if it is not just the recorder.  ``differs`` are the places
    of answers that differ, by the number of the request.
    """

    name: str
    reply: Reply = allow
    sort: Sort = "validating"
    where: Callable[[WebhookServer], Document] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    requests: tuple[Ask, ...] = ()
    differs: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    label: str = ""

    @property
    def asks(self) -> tuple[Ask, ...]:
        return self.requests or (post(CONFIG_MAPS, config_map(self.label or self.name)),)

    def webhook(self, hooks: WebhookServer) -> Document:
        """Write the webhook down."""
        where = hooks.client_config(self.name) if self.where is None else self.where(hooks)
        only = {"objectSelector": {"matchLabels": {"case": self.label or self.name}}}
        return webhook(self.name, where, **(only | dict(self.options)))


def added(path: str, value: Any) -> Document:
    return {"op": "add", "path": path, "value": value}


def raw_patch(content: bytes, **more: Any) -> Reply:
    patch_text = base64.b64encode(content).decode()
    return lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": patch_text, **more}


def answered(content: object, code: int = 200, content_type: str = "application/json") -> Reply:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return lambda _: Raw(body, code, content_type)


def _in_version(version: str, code: int = 200) -> Reply:
    return lambda request: Raw(
        json.dumps(
            {
                "apiVersion": version,
                "kind": "AdmissionReview",
                "response": {"uid": request["uid"], "allowed": True},
            }
        ).encode(),
        code,
    )


NOBODY_LETS_GO = threading.Event()


def hanging(_: Document) -> Document:
    """Answer later than any of these webhooks is waited for."""
    NOBODY_LETS_GO.wait(2)
    return {"allowed": True}


STRANGER = base64.b64encode(Authority("somebody else").pem).decode()
MALFORMED = "malformed-webhook-answers"
WORDS = {1: {"body.message": MALFORMED, "body.details.causes": MALFORMED}}
DETAILS = {"kind": "things", "causes": [{"reason": "R", "message": "m", "field": "f"}]}

DENIALS = (
    Case("denied", deny()),
    Case("denied-with-message", deny(message="not today", code=403, reason="Forbidden")),
    Case("denied-with-reason", deny(reason="Invalid")),
    Case("denied-with-small-code", deny(code=200, message="fine", status="Success")),
    Case("denied-with-details", deny(code=422, reason="Invalid", message="m", details=DETAILS)),
    Case("denied-by-mutating", deny(message="no"), "mutating"),
    Case(
        "denied-delete",
        lambda request: {
            "allowed": request["operation"] != "DELETE",
            "status": {"message": "it stays"},
        },
        requests=(
            post(CONFIG_MAPS, config_map("denied-delete")),
            delete(f"{CONFIG_MAPS}/denied-delete"),
            delete(f"{CONFIG_MAPS}?labelSelector=case=denied-delete"),
        ),
    ),
    Case(
        "warned",
        lambda _: {"allowed": True, "warnings": ["one", 'a "quoted" text', "two\nlines", "one"]},
        requests=(post(CONFIG_MAPS, config_map("warned")),),
    ),
    Case("denied-and-warned", lambda _: {"allowed": False, "warnings": ["beware"]}),
    Case("old-review", requests=(), options={"admissionReviewVersions": ["v1beta1"]}),
    Case("new-review", options={"admissionReviewVersions": ["v2", "v1"]}),
)

FAILURES = (
    Case("refused", where=lambda _: {"url": "https://127.0.0.1:1/x"}),
    Case(
        "refused-and-ignored",
        where=lambda _: {"url": "https://127.0.0.1:1/x"},
        options={"failurePolicy": "Ignore"},
    ),
    Case(
        "mutating-refused-and-ignored",
        sort="mutating",
        where=lambda _: {"url": "https://127.0.0.1:1/x"},
        options={"failurePolicy": "Ignore"},
    ),
    Case("server-error", answered(b"broken", 500, "text/plain")),
    Case("server-error-in-json", answered({"error": "broken"}, 503)),
    Case("not-there", answered(b"404 page not found\n", 404, "text/plain")),
    Case("bad-request", answered(b"what?", 400, "text/plain")),
    Case("no-content", answered(b"", 204)),
    Case("accepted", _in_version("admission.k8s.io/v1", 202)),
    Case("not-json", answered(b"hello", 200, "text/plain"), differs=WORDS),
    Case("empty", answered(b"")),
    Case("not-an-object", answered([]), differs=WORDS),
    Case("no-kind", answered({"response": {"allowed": True}})),
    Case("no-response", answered({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"})),
    Case("wrong-uid", lambda _: {"uid": "x", "allowed": True}),
    Case("old-version", _in_version("admission.k8s.io/v1beta1")),
    Case("unknown-version", _in_version("admission.k8s.io/v7")),
    Case("wrong-type", lambda _: {"allowed": "yes"}, differs=WORDS),
    Case("patch-of-validating", patching(added("/data/a", "b"))),
    Case("type-of-validating", lambda _: {"allowed": True, "patchType": "JSONPatch"}),
    Case("patch-without-type", lambda _: {"allowed": True, "patch": "W10="}, "mutating"),
    Case("type-without-patch", lambda _: {"allowed": True, "patchType": "JSONPatch"}, "mutating"),
    Case("empty-type", raw_patch(b"[]", patchType=""), "mutating"),
    Case("other-type", raw_patch(b'[{"op":"x"}]', patchType="MergePatch"), "mutating"),
    Case("undecodable-patch", raw_patch(b"{}"), "mutating"),
    Case("empty-patch", raw_patch(b"[]"), "mutating"),
    Case(
        "patch-that-fails",
        patching({"op": "remove", "path": "/nothing/here"}),
        "mutating",
        differs=WORDS,
    ),
    Case("patch-to-no-object", patching(added("/data", 5)), "mutating"),
    Case("patch-to-invalid", patching(added("/data/a b", "c")), "mutating"),
    Case("late", hanging, options={"timeoutSeconds": 1}),
    Case(
        "late-and-ignored",
        hanging,
        options={"timeoutSeconds": 1, "failurePolicy": "Ignore"},
    ),
    Case("no-bundle", where=lambda hooks: {"url": hooks.url("x")}),
    Case("other-authority", where=lambda hooks: {"url": hooks.url("x"), "caBundle": STRANGER}),
    Case("missing-service", where=lambda _: _service("absent")),
    Case("missing-port", where=lambda _: _service("kubernetes", port=1234)),
)


def _service(name: str, **more: Any) -> Document:
    return {"service": {"namespace": "default", "name": name, "path": "/x", **more}}


def _rule(group: str, version: str, resource: str) -> Document:
    return {
        "operations": ["*"],
        "apiGroups": [group],
        "apiVersions": [version],
        "resources": [resource],
    }


def autoscaler(case: str) -> Document:
    target = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target}
    return {"metadata": {"name": case, "labels": {"case": case}}, "spec": spec}


HPAS = "/apis/autoscaling/v1/namespaces/<ns>/horizontalpodautoscalers"
PICKED = {"pick": "yes"}
_MERGE = {"metadata": {"annotations": {"more": "yes"}}}

MUTATIONS = (
    Case(
        "mutated",
        patching(added("/data/added", "by webhook"), added("/metadata/labels/added", "yes")),
        "mutating",
        requests=(
            post(CONFIG_MAPS, config_map("mutated")),
            patch(f"{CONFIG_MAPS}/mutated", _MERGE),
            patch(f"{CONFIG_MAPS}/mutated?dryRun=All", {"data": {"key": "other"}}),
            delete(f"{CONFIG_MAPS}/mutated"),
        ),
    ),
    Case(
        "mutated-pod",
        patching(added("/spec/containers/-", {"name": "side", "image": "envoy"})),
        "mutating",
        requests=(post(PODS, pod("mutated-pod")),),
    ),
    Case(
        "unknown-field",
        patching(added("/spec/nonsense", True)),
        "mutating",
        requests=(post(PODS, pod("unknown-field")),),
    ),
    Case(
        "generated-name",
        patching(added("/metadata/name", "chosen-by-webhook")),
        "mutating",
        requests=(
            post(
                CONFIG_MAPS,
                {"metadata": {"generateName": "made-", "labels": {"case": "generated-name"}}},
            ),
        ),
    ),
    Case(
        "other-namespace",
        patching(added("/metadata/namespace", "elsewhere")),
        "mutating",
    ),
    *(
        Case(
            f"order-{letter}",
            patching(added(f"/data/{letter}", "here")),
            "mutating",
            label="order",
            options={"reinvocationPolicy": policy},
        )
        for letter, policy in zip("dacbe", ("IfNeeded", "Never", "IfNeeded") * 2, strict=False)
    ),
    Case(
        "seen-later",
        deny(),
        "mutating",
        options={"objectSelector": {"matchLabels": {"case": "mutated", "added": "yes"}}},
        requests=(post(CONFIG_MAPS, config_map("mutated")),),
    ),
    Case(
        "equivalent",
        patching(added("/spec/maxReplicas", 7)),
        "mutating",
        options={"rules": [_rule("autoscaling", "v2", "horizontalpodautoscalers")]},
        requests=(post(HPAS, autoscaler("equivalent")),),
    ),
    Case(
        "exact",
        deny(),
        options={
            "rules": [_rule("autoscaling", "v2", "horizontalpodautoscalers")],
            "matchPolicy": "Exact",
        },
        requests=(post(HPAS, autoscaler("exact")),),
    ),
    Case(
        "same-events",
        options={"rules": [_rule("events.k8s.io", "v1", "events")]},
        requests=(
            post(
                f"{CORE}/events",
                {
                    "metadata": {"name": "e", "labels": {"case": "same-events"}},
                    "involvedObject": {"kind": "Pod", "name": "p", "namespace": "<ns>"},
                    "reason": "R",
                    "type": "Normal",
                },
            ),
        ),
    ),
    Case(
        "of-namespaces",
        options={
            "objectSelector": {},
            "namespaceSelector": {"matchLabels": {"pick": "yes"}},
            "rules": [_rule("", "v1", "namespaces"), _rule("", "v1", "configmaps")],
        },
        requests=(
            post("/api/v1/namespaces", {"metadata": {"name": "<ns>-a", "labels": PICKED}}),
            patch("/api/v1/namespaces/<ns>-a", {"metadata": {"annotations": {"a": "b"}}}),
            post("/api/v1/namespaces/<ns>-a/configmaps", {"metadata": {"name": "c"}}),
            post("/api/v1/namespaces", {"metadata": {"name": "<ns>-b"}}),
            post("/api/v1/namespaces/<ns>-b/configmaps", {"metadata": {"name": "c"}}),
            delete("/api/v1/namespaces/<ns>-a"),
        ),
    ),
    Case(
        "of-cluster-scope",
        options={"rules": [{**_rule("*", "*", "*"), "scope": "Cluster"}], "objectSelector": {}},
        requests=(
            post("/api/v1/namespaces", {"metadata": {"name": "<ns>-c"}}),
            post(CONFIG_MAPS, {"metadata": {"name": "c"}}),
        ),
    ),
    Case("wrong-managers", patching(added("/metadata/managedFields/0/operation", "X")), "mutating"),
    Case("without-managers", patching(added("/metadata/managedFields", [])), "mutating"),
    Case(
        "conflict",
        requests=(
            post(CONFIG_MAPS, config_map("conflict")),
            Ask(
                "PUT",
                f"{CONFIG_MAPS}/conflict",
                {
                    "metadata": {
                        "name": "conflict",
                        "labels": {"case": "conflict"},
                        "resourceVersion": "1",
                    }
                },
            ),
            post(CONFIG_MAPS, config_map("conflict")),
            post(CONFIG_MAPS, config_map("conflict", data={"a b": "c"})),
            post(f"{CORE}/pods/absent/eviction", {"metadata": {"name": "absent"}}),
        ),
    ),
)

CASES = (*DENIALS, *FAILURES, *MUTATIONS)
