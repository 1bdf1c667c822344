"""What programs that act on a cluster are made of: small parts that fit together.

No framework: each part can be used alone.

- ``work_queue``, ``rate_limiters``: keys that wait for work, and for how long
- ``triggers``: which keys a change concerns
- ``reconciler``: from changes to calls of a function, ``reconcile``
- ``leader_election``: one of several candidates leads, and knows when it no longer does
- ``event_recorder``, ``event_correlation``, ``event_series``, ``event_sender``: what people hear
  about objects
- ``object_writes``: finalizers, conditions, owners, and waiting for an object
- ``rollout_restarts``: what ``kubectl rollout restart`` does, and waiting for its end
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.controllers.event_recorder import EventRecorder, reference_to
    from reflet.controllers.event_series import SeriesRecorder
    from reflet.controllers.leader_election import LeaderElection, LeadershipLost, leader
    from reflet.controllers.object_writes import (
        applied_object, condition, deleted, ensure_finalizer, owner_reference, remove_finalizer,
        retry_on_conflict, set_condition, wait_for,
    )
    from reflet.controllers.rate_limiters import (
        ExponentialFailures, FastThenSlow, MaxOf, RateLimiter, TokenBucket, default_rate_limiter,
    )
    from reflet.controllers.reconciler import (
        Controller, ControllerOptions, Done, Reconcile, Requeue, TerminalError, reconcile,
    )
    from reflet.controllers.triggers import (
        Predicate, Trigger, all_of, any_of, generation_changed, in_namespaces, indexed, itself,
        labelled, mapped, owned, version_changed,
    )
    from reflet.controllers.work_queue import QueueFull, QueueShutDown, WorkQueue
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.controllers.event_recorder": "EventRecorder reference_to",
        "reflet.controllers.event_series": "SeriesRecorder",
        "reflet.controllers.leader_election": "LeaderElection LeadershipLost leader",
        "reflet.controllers.object_writes": (
            "applied_object condition deleted ensure_finalizer owner_reference remove_finalizer "
            "retry_on_conflict set_condition wait_for"
        ),
        "reflet.controllers.rate_limiters": (
            "ExponentialFailures FastThenSlow MaxOf RateLimiter TokenBucket default_rate_limiter"
        ),
        "reflet.controllers.reconciler": (
            "Controller ControllerOptions Done Reconcile Requeue TerminalError reconcile"
        ),
        "reflet.controllers.triggers": (
            "Predicate Trigger all_of any_of generation_changed in_namespaces indexed itself "
            "labelled mapped owned version_changed"
        ),
        "reflet.controllers.work_queue": "QueueFull QueueShutDown WorkQueue",
    })

__all__ = [
    "Controller", "ControllerOptions", "Done", "EventRecorder", "ExponentialFailures",
    "FastThenSlow", "LeaderElection", "LeadershipLost", "MaxOf", "Predicate", "QueueFull",
    "QueueShutDown", "RateLimiter", "Reconcile", "Requeue", "SeriesRecorder", "TerminalError",
    "TokenBucket", "Trigger", "WorkQueue", "all_of", "any_of", "applied_object", "condition",
    "default_rate_limiter", "deleted", "ensure_finalizer", "generation_changed", "in_namespaces",
    "indexed", "itself", "labelled", "leader", "mapped", "owned", "owner_reference", "reconcile",
    "reference_to", "remove_finalizer", "retry_on_conflict", "set_condition", "version_changed",
    "wait_for",
]
