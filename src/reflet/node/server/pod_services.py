"""What is answered about one pod at a time: its logs, commands in it, its ports."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from reflet.node.descriptor_budget import FORWARDED_FOR_A_COMMAND, DescriptorBudget
from reflet.node.process_runtime import ProcessRuntime
from reflet.node.server.exec_service import ExecService
from reflet.node.server.log_service import FindPod, LogService
from reflet.node.server.port_forward_service import PortForwardService
from reflet.runtime.clock import Clock
from reflet.transport.serving.http_answers import Answer, Question, Upgrade, text


@dataclass(frozen=True, slots=True)
class PodServices:
    """Answers whoever may ask; who may is for ``review`` to say."""

    logs: LogService
    commands: ExecService
    forwarding: PortForwardService

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
        """The services for the pods of a runtime; *folder* is for the pipes of commands.

        What an agent that was killed left there is removed.
        """
        shutil.rmtree(folder, ignore_errors=True)
        records, forwarded = runtime.records, budget.commands * FORWARDED_FOR_A_COMMAND
        return cls(
            LogService(find_pod=find_pod, records=records, clock=clock, most=budget.logs),
            ExecService(
                folder,
                find_pod=find_pod,
                records=records,
                run=runtime.run_command,
                most=budget.commands,
            ),
            PortForwardService(find_pod=find_pod, records=records, most=forwarded),
        )

    async def answer(self, question: Question) -> Answer | Upgrade:
        """Answer one question about a pod."""
        match question.path:
            case ("containerLogs", *_):
                return await self.logs.answer(question)
            case ("exec", *_):
                return await self.commands.answer(question)
            case ("portForward", *_):
                return await self.forwarding.answer(question)
            case _:
                return text(
                    404,
                    "there are /livez /readyz /metrics /pods /containerLogs /exec and /portForward",
                )
