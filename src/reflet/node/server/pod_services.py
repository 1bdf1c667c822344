"""What is answered about one pod at a time: logs, commands, its containers' streams, its ports."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol, Self

from reflet.node.descriptor_budget import FORWARDED_FOR_A_COMMAND, DescriptorBudget
from reflet.node.process_runtime import ProcessRuntime
from reflet.node.server.attach_service import AttachService
from reflet.node.server.exec_service import ExecService
from reflet.node.server.log_service import FindPod, LogService
from reflet.node.server.port_forward_service import PortForwardService
from reflet.node.server.stream_channels import StreamPlaces
from reflet.runtime.clock import Clock
from reflet.transport.serving.http_answers import Answer, Question, Upgrade, text

REASONS: Final[Mapping[int, str]] = MappingProxyType(
    {
        400: "BadRequest",
        403: "Forbidden",
        404: "NotFound",
        429: "TooManyRequests",
        503: "ServiceUnavailable",
    }
)


class StreamService(Protocol):
    """Answers one kind of question about a pod."""

    async def answer(self, question: Question, /) -> Answer | Upgrade:
        """Answer one question."""
        ...


@dataclass(frozen=True, slots=True)
class PodServices:
    """Answers whoever may ask; who may is for ``review`` to say."""

    logs: StreamService
    commands: StreamService
    attaching: StreamService
    forwarding: StreamService

    @classmethod
    def of(
        cls,
        runtime: ProcessRuntime,
        find_pod: FindPod,
        *,
        folder: Path,
        budget: DescriptorBudget,
        clock: Clock,
    ) -> Self:
        """The services for pods whose containers are processes; *folder* is for pipes of commands.

        What an agent that was killed left there is removed.
        """
        shutil.rmtree(folder, ignore_errors=True)
        records, forwarded = runtime.records, budget.commands * FORWARDED_FOR_A_COMMAND
        places, turns = StreamPlaces(budget.commands), asyncio.Semaphore()
        return cls(
            LogService(
                find_pod=find_pod, records=records, clock=clock, most=budget.logs, turns=turns
            ),
            ExecService(
                folder,
                find_pod=find_pod,
                records=records,
                run=runtime.run_command,
                places=places,
            ),
            AttachService(
                find_pod=find_pod,
                records=records,
                close_stdin=runtime.close_stdin,
                places=places,
                turns=turns,
                clock=clock,
            ),
            PortForwardService(find_pod=find_pod, records=records, most=forwarded),
        )

    async def answer(self, question: Question) -> Answer | Upgrade:
        """Answer one question about a pod."""
        match question.path:
            case ("containerLogs", *_):
                return await self.logs.answer(question)
            case ("exec", *_):
                return as_status(await self.commands.answer(question))
            case ("attach", *_):
                return as_status(await self.attaching.answer(question))
            case ("portForward", *_):
                return as_status(await self.forwarding.answer(question))
            case _:
                return text(
                    404,
                    "there are /livez /readyz /metrics /pods /containerLogs /exec /attach and "
                    "/portForward",
                )


def as_status(answer: Answer | Upgrade) -> Answer | Upgrade:
    """A refused stream as a Status, which clients show whole.

    kubectl reads a refusal as YAML, and of a plain sentence with a colon in it shows nothing.
    """
    if isinstance(answer, Upgrade) or not isinstance(answer.body, bytes) or answer.status < 400:
        return answer
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": answer.body.decode().strip(),
        "reason": REASONS.get(answer.status, ""),
        "code": answer.status,
    }
    return replace(answer, body=json.dumps(status).encode(), content_type="application/json")
