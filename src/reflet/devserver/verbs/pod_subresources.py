"""What can be done to a pod besides reading and writing it: bind, evict, read its log.

Also the tokens of service accounts, which are asked for in the same way.

Upstream: pkg/registry/core/pod/storage/{storage,eviction}.go, pod/rest/log.go;
pkg/registry/core/serviceaccount/storage/token.go
"""

from __future__ import annotations

from typing import Any, Final

from reflet.apirules import refusals
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.printing.answers import DocumentAnswer
from reflet.devserver.request.authentication import ISSUER, TokenOwner
from reflet.devserver.request.bodies import subresource_kind
from reflet.devserver.request.request_info import ApiRequest
from reflet.devserver.request.request_options import DeleteOptions
from reflet.devserver.storage.stored import Stored
from reflet.devserver.verbs.deleting import delete
from reflet.devserver.verbs.field_managers import FieldManager
from reflet.devserver.verbs.state import LogRequest, State
from reflet.errors import Cause
from reflet.gotext.times import time_text

Document = dict[str, Any]

PASSED_THROUGH: Final = frozenset({"attach", "exec", "portforward"})
POD_SUBRESOURCES: Final = frozenset({"binding", "eviction", "log"}) | PASSED_THROUGH
SHORTEST_TOKEN: Final = 600  # seconds
LONGEST_TOKEN: Final = 2**32
USUAL_TOKEN: Final = 3600


def of_pod(subresource: str, name: str, document: Document) -> Document:
    """Give a binding or an eviction; one that names another pod than the URL is refused."""
    named = (document.get("metadata") or {}).get("name") or ""
    if named != name:
        what = subresource.capitalize()
        raise refusals.bad_request(f"name in URL does not match name in {what} object")
    return document


def bind(state: State, stored: Stored, binding: Document, *, dry_run: bool) -> DocumentAnswer:
    """Assign a pod to a node."""
    name = stored.key.name
    target = binding.get("target") or {}
    node = target.get("name") or ""
    if not node:
        raise refusals.unexpected("target.name: Required value")
    pod = stored.object
    if "deletionTimestamp" in pod["metadata"]:
        raise refusals.conflict(
            "pods/binding", name, f"pod {name} is being deleted, cannot be assigned to a host"
        )
    assigned = pod.get("spec", {}).get("nodeName")
    if assigned:
        why = f'pod {name} is already assigned to node "{assigned}"'
        raise refusals.conflict("pods/binding", name, why)
    annotations = (binding.get("metadata") or {}).get("annotations") or {}
    metadata = pod["metadata"]
    if annotations:
        metadata = {**metadata, "annotations": {**metadata.get("annotations", {}), **annotations}}
    conditions = [
        each
        for each in pod.get("status", {}).get("conditions") or ()
        if each.get("type") != "PodScheduled"
    ]
    conditions.append(
        {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": time_text(state.now()),
        }
    )
    bound = {
        **pod,
        "metadata": metadata,
        "spec": {**pod["spec"], "nodeName": node},
        "status": {**pod.get("status", {}), "conditions": conditions},
    }
    if not dry_run:
        state.storage.replace(stored.key, bound)
    return DocumentAnswer(refusals.success(code=201), 201)


def evict(state: State, kind: ServedKind, stored: Stored, options: DeleteOptions) -> DocumentAnswer:
    """Delete a pod; disruption budgets are not looked at."""
    delete(state, kind, stored.key.namespace, stored.key.name, options)
    return DocumentAnswer(refusals.success(code=201), 201)


def container_of(request: ApiRequest, stored: Stored) -> str:
    """The container that is asked for: of a pod that has one, that one need not be named."""
    pod, name = stored.object, stored.key.name
    spec = pod.get("spec", {})
    containers = [each.get("name", "") for each in spec.get("containers") or ()]
    others = [
        each.get("name", "")
        for part in ("initContainers", "ephemeralContainers")
        for each in spec.get(part) or ()
    ]
    chosen = request.text("container")
    if not chosen:
        if len(containers) != 1:
            init = f" or one of the init containers: [{' '.join(others)}]" if others else ""
            raise refusals.bad_request(
                f"a container name must be specified for pod {name}, choose one of: "
                f"[{' '.join(containers)}]{init}"
            )
        chosen = containers[0]
    elif chosen not in containers and chosen not in others:
        raise refusals.bad_request(f"container {chosen} is not valid for pod {name}")
    return chosen


def log_request(request: ApiRequest, stored: Stored) -> LogRequest:
    """Read which log of a pod is asked for."""
    return LogRequest(
        namespace=stored.key.namespace,
        pod=stored.key.name,
        container=container_of(request, stored),
        follow=request.flag("follow"),
        previous=request.flag("previous"),
        timestamps=request.flag("timestamps"),
        tail_lines=request.integer("tailLines"),
        limit_bytes=request.integer("limitBytes"),
        since_seconds=request.integer("sinceSeconds"),
        since_time=request.text("sinceTime"),
    )


def with_usual_expiry(document: Document) -> Document:
    """Give a TokenRequest that says how long the token shall be good."""
    spec = document.get("spec") or {}
    if spec.get("expirationSeconds") is not None:
        return document
    return {**document, "spec": {**spec, "expirationSeconds": USUAL_TOKEN}}


def completed_token_request(
    state: State, stored: Stored, document: Document, *, manager: str
) -> Document:
    """Give a TokenRequest with everything but the token, or refuse it."""
    spec = document["spec"]
    _check_account_name(stored, document)
    seconds = spec["expirationSeconds"]
    problem = ""
    if not isinstance(seconds, int) or seconds < SHORTEST_TOKEN:
        problem = "may not specify a duration less than 10 minutes"
    elif seconds > LONGEST_TOKEN:
        problem = "may not specify a duration larger than 2^32 seconds"
    if problem:
        message = f"Invalid value: {seconds}: {problem}"
        cause = Cause("FieldValueInvalid", message, "spec.expirationSeconds")
        raise refusals.invalid("TokenRequest", "", [cause], group="authentication.k8s.io")
    now = state.now()
    ownership = FieldManager(subresource_kind(state.kinds, "token"), "token", manager, now)
    managed = (document.get("metadata") or {}).get("managedFields")
    return {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": stored.key.name,
            "namespace": stored.key.namespace,
            "uid": stored.object["metadata"].get("uid", ""),
            "creationTimestamp": time_text(now),
            "managedFields": managed or ownership.after_create(document),
        },
        "spec": {
            "audiences": spec.get("audiences") or [ISSUER],
            "expirationSeconds": seconds,
            "boundObjectRef": spec.get("boundObjectRef"),
        },
        "status": {"token": "", "expirationTimestamp": None},
    }


def issue_token(state: State, request: Document) -> DocumentAnswer:
    """Make the token that a complete TokenRequest asks for."""
    metadata, spec = request["metadata"], request["spec"]
    token, ends = state.tokens.issue(
        TokenOwner(metadata["namespace"], metadata["name"], metadata["uid"]),
        audiences=spec["audiences"],
        now=state.now(),
        seconds=spec["expirationSeconds"],
        bound_to=spec["boundObjectRef"],
    )
    status = {"token": token, "expirationTimestamp": time_text(ends)}
    return DocumentAnswer({**request, "status": status}, 201)


def _check_account_name(stored: Stored, document: Document) -> None:
    name = stored.key.name
    named = (document.get("metadata") or {}).get("name")
    if named and named != name:
        message = f'Invalid value: "{named}": must match the service account name if specified'
        cause = Cause("FieldValueInvalid", message, "metadata.name")
        raise refusals.invalid("TokenRequest", name, [cause], group="authentication.k8s.io")
