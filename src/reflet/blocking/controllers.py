"""Controllers and leader election, for programs without an event loop.

The crossing to the loop, and nothing else: what each does and promises is said in
``reflet.controllers``.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self, cast

from reflet.blocking.loop_thread import LoopThread
from reflet.controllers.leader_election import LeaderElection
from reflet.controllers.reconciler import Controller, Reconcile, Result
from reflet.informer.handlers.changes import is_asynchronous


class BlockingLeader:
    """``LeaderElection``, waiting: leads while the ``with`` block runs.

    ::

        with cluster.leader("my-operator", namespace="ops") as leader:
            while work_is_left():
                leader.check()
                do_some_of_it()

    A thread cannot be cancelled: a block that outlives its leadership goes on unless it asks
    ``check`` or ``is_leading``, and leaving it raises LeadershipLost.

    - *election*: what runs on the event loop
    """

    def __init__(self, loop: LoopThread, election: LeaderElection) -> None:
        self._loop = loop
        self._election = election

    def __enter__(self) -> Self:
        self._loop.enter(self._election)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.leave(self._election, error)

    @property
    def identity(self) -> str:
        """What this candidate calls itself in the Lease."""
        return self._election.identity

    @property
    def is_leading(self) -> bool:
        """Whether this candidate leads at this very moment, by the monotonic clock."""
        return self._election.is_leading

    @property
    def holder(self) -> str:
        """The identity of the leader that was last seen; empty when nobody led."""
        return self._election.holder

    def check(self) -> None:
        """Raise LeadershipLost unless this candidate leads."""
        self._election.check()


class BlockingController:
    """``Controller``, waiting: ``run`` works until ``stop``, or until Ctrl-C, which goes on.

    - *controller*: what runs on the event loop
    """

    def __init__(self, loop: LoopThread, controller: Controller) -> None:
        self._loop = loop
        self._controller = controller

    @property
    def is_ready(self) -> bool:
        """Whether everything is synced and the workers work: what a readiness probe asks."""
        return self._controller.is_ready

    def longest_call(self) -> float:
        """For how many seconds the call that has been under way longest has been: 0 for none."""
        return self._loop.run(self._longest_call())

    def run(self) -> None:
        """Work until ``stop``; Ctrl-C ends it when the calls that are under way have ended."""
        self._loop.run(self._controller.run())

    def stop(self) -> None:
        """Begin no more calls, from any thread; ``run`` returns when those under way have ended."""
        self._loop.tidy(self._stop())

    async def _longest_call(self) -> float:
        return self._controller.longest_call()

    async def _stop(self) -> None:
        self._controller.stop()


def waited_for(loop: LoopThread, function: Reconcile) -> Reconcile:
    """*function*, in calls that the end of the loop waits for; a coroutine function as it is."""
    if is_asynchronous(cast("Any", function)):
        return function

    def call(key: str) -> Result:
        return loop.call_for(function, lambda: cast("Result", function(key)))

    return call
