"""Calls the webhooks of stored configurations on writes: in which order, and what follows.

Those that mutate are called one after the other, each with what the one before made of the object;
where something changed, some of them once more.  Those that validate are called all at once.

Upstream: apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go, Dispatch;
plugin/webhook/validating/dispatcher.go, Dispatch; apiserver/pkg/admission/reinvocation.go
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, final

from reflet.apirules import refusals
from reflet.apirules.admission import with_defaults
from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.strict_decoding import check_body
from reflet.devserver.admission.admission_reviews import (
    UNREACHED,
    CallFailed,
    Verdict,
    denial,
    read_verdict,
    review,
    review_version,
)
from reflet.devserver.admission.attributes import AdmittedTarget, Attributes
from reflet.devserver.admission.webhook_matching import (
    NAMESPACES,
    Webhook,
    in_order,
    invoked_kind,
    is_exempt,
    is_selected,
    webhooks_of,
)
from reflet.devserver.patches.json_patch import json_patch, without_prefix
from reflet.devserver.patches.patch_bodies import read_json_patch
from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import Key, StoredChange
from reflet.devserver.verbs.conversion import in_storage_version, in_version
from reflet.errors import ApiError

Document = dict[str, Any]

MUTATING: Final = "mutatingwebhookconfigurations.admissionregistration.k8s.io"
VALIDATING: Final = "validatingwebhookconfigurations.admissionregistration.k8s.io"

logger = logging.getLogger(__name__)


@final
class Configured:
    """The webhooks of all stored configurations of one kind, kept up to date."""

    def __init__(self, storage: Storage, resource: str) -> None:
        self._by_name = {
            stored.key.name: webhooks_of(stored.object) for stored in storage.list(resource)
        }
        self.webhooks = in_order(self._by_name)
        storage.subscribe(self._follow, resource=resource)

    def _follow(self, change: StoredChange) -> None:
        self._by_name.pop(change.key.name, None)
        if change.type != "DELETED":
            self._by_name[change.key.name] = webhooks_of(change.stored.object)
        self.webhooks = in_order(self._by_name)


class Caller(Protocol):
    """Whoever carries a review to a webhook."""

    async def post(self, webhook: Webhook, review: Mapping[str, Any], /) -> bytes:
        """Give what the webhook answers; raises CallFailed when it cannot be had."""
        ...


@final
class Webhooks:
    """Admission by webhooks.  Is an ``Admission``."""

    def __init__(
        self, storage: Storage, kinds: Kinds, caller: Caller, *, new_uid: Callable[[], str]
    ) -> None:
        self._storage = storage
        self._kinds = kinds
        self._caller = caller
        self._new_uid = new_uid
        self._mutating = Configured(storage, MUTATING)
        self._validating = Configured(storage, VALIDATING)

    def handles(self, target: AdmittedTarget, /) -> bool:
        """Whether the rules of any webhook are about writes of this sort."""
        webhooks = self._mutating.webhooks + self._validating.webhooks
        if not webhooks or is_exempt(target.kind):
            return False
        others = self._equivalents(target.kind)
        return any(invoked_kind(webhook, target, others) is not None for webhook in webhooks)

    async def mutate(self, attributes: Attributes, /) -> Document | None:
        """Give the object as the mutating webhooks want it."""
        called: set[tuple[str, int]] = set()  # who may want to see what changed after them
        again: set[tuple[str, int]] = set()
        for is_second in (False, True):
            for webhook in self._mutating.webhooks:
                if is_second and webhook.uid not in again:
                    continue
                kind = self._kind_for(webhook, attributes)
                if kind is None:
                    continue
                made = await self._mutated(webhook, kind, attributes)
                if made != attributes.object:
                    attributes = dataclasses.replace(attributes, object=made)
                    again |= called
                    called.clear()
                if webhook.is_reinvoked:
                    called.add(webhook.uid)
            if not again:
                break
        return attributes.object

    async def validate(self, attributes: Attributes, /) -> None:
        """Let all validating webhooks look at the object; the first that refuses is heard."""
        refused: list[ApiError] = []

        async def ask(webhook: Webhook, kind: ServedKind) -> None:
            try:
                await self._asked(webhook, kind, attributes, mutating=False)
            except ApiError as error:
                refused.append(error)

        concerned = [
            (webhook, kind)
            for webhook in self._validating.webhooks
            if (kind := self._kind_for(webhook, attributes)) is not None
        ]
        async with asyncio.TaskGroup() as tasks:
            for webhook, kind in concerned:
                tasks.create_task(ask(webhook, kind), name=f"validating webhook {webhook.name}")
        if refused:
            raise refused[0]

    def _kind_for(self, webhook: Webhook, attributes: Attributes) -> ServedKind | None:
        """Give the kind as which a webhook wants to see a write; None if it does not."""
        target = attributes.target
        if is_exempt(target.kind):
            return None
        kind = invoked_kind(webhook, target, self._equivalents(target.kind))
        if kind is None or not is_selected(webhook, attributes, self._labels_of):
            return None
        return kind

    def _equivalents(self, kind: ServedKind) -> list[ServedKind]:
        return [each for each in self._kinds if each.storage_key == kind.storage_key]

    def _labels_of(self, namespace: str) -> dict[str, str] | None:
        stored = self._storage.get(Key(NAMESPACES, "", namespace))
        return None if stored is None else stored.object["metadata"].get("labels") or {}

    async def _mutated(
        self, webhook: Webhook, kind: ServedKind, attributes: Attributes
    ) -> Document | None:
        verdict = await self._asked(webhook, kind, attributes, mutating=True)
        before = attributes.object
        try:
            operations = () if verdict is None else read_json_patch(verdict.patch or b"null", [])
        except ApiError as error:
            why = error.message.removeprefix("error decoding patch: ")
            why = why.replace("[]handlers.jsonPatchOp", "jsonpatch.Patch")
            self._failed(
                webhook, CallFailed(f"received undecodable patch in webhook response: {why}")
            )
            return before
        if not operations:
            return before
        if before is None:
            raise refusals.internal_error(
                f'admission webhook "{webhook.name}" attempted to modify the object, which is not '
                "supported for this operation"
            )
        shown = attributes.body_kind or kind
        try:
            patched = json_patch(_seen_as(kind, attributes, before) or {}, operations)
            made, _ = check_body(shown, patched, kinds=self._kinds, field_validation="Ignore")
        except ApiError as error:
            why = str(error.__cause__ or without_prefix(error.message))
            raise refusals.internal_error(why) from error
        with_defaults(shown, made)
        return made if shown is not kind else _converted(kind, attributes.kind, made)

    async def _asked(
        self, webhook: Webhook, kind: ServedKind, attributes: Attributes, *, mutating: bool
    ) -> Verdict | None:
        """Ask a webhook; None when it could not be asked and may be passed over."""
        if attributes.dry_run and not webhook.supports_dry_run:
            raise refusals.bad_request(
                f'admission webhook "{webhook.name}" does not support dry run'
            )
        uid = self._new_uid()
        try:
            version = review_version(webhook.review_versions)
            question = review(
                attributes,
                kind,
                uid,
                version=version,
                object=_seen_as(kind, attributes, attributes.object),
                old=_seen_as(kind, attributes, attributes.old),
            )
            content = await self._caller.post(webhook, question)
            verdict = read_verdict(content, uid, version=version, mutating=mutating)
            if verdict.allowed and verdict.patch_type not in {None, "JSONPatch"}:
                raise CallFailed(f'unsupported patch type "{verdict.patch_type}"')
        except CallFailed as error:
            self._failed(webhook, error)
            return None
        attributes.warnings.extend(
            text
            for text in verdict.warnings or ()
            if text.isprintable() and text not in attributes.warnings
        )
        if not verdict.allowed:
            raise denial(webhook.name, verdict.status)
        return verdict

    @staticmethod
    def _failed(webhook: Webhook, error: CallFailed) -> None:
        why = f'failed calling webhook "{webhook.name}": {error}'
        if not webhook.ignores_failures:
            raise refusals.internal_error(why) from error
        # What a webhook answers may repeat what is in objects, and so is nothing for a log.
        reason = str(error) if str(error).startswith(UNREACHED) else "its answer is none"
        logger.warning("webhook %s is passed over as failurePolicy says: %s", webhook.name, reason)


def _seen_as(
    kind: ServedKind, attributes: Attributes, document: Document | None
) -> Document | None:
    """Give an object of a write in the version of a kind; a subresource's own kind has but one."""
    if document is None or attributes.body_kind is not None:
        return document
    return _converted(attributes.kind, kind, document)


def _converted(present: ServedKind, wanted: ServedKind, document: Document) -> Document:
    if present is wanted:
        return document
    return in_version(wanted, in_storage_version(present, document))
