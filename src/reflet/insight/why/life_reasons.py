"""Reasons in the life of a pod besides its containers: nodes, gates, volumes, and its end.

``pod_reasons`` finds them.
"""

from reflet.insight.why.reasons import ObjectName, Reason


class Evicted(Reason, frozen=True, kw_only=True):
    """A node has sent the pod away."""

    resource: str = ""

    def _sentence(self) -> str:
        what = f"low on {self.resource}" if self.resource else "under pressure"
        return f"the pod was evicted: its node was {what}"

    def _advice(self, _: ObjectName, /) -> str:
        what = self.resource or "resources"
        return f"set requests and limits of {what}, or add nodes; evicted pods can be deleted"


class NodeShutDown(Reason, frozen=True, kw_only=True):
    """A node was shut down under the pod."""

    node: str

    def _sentence(self) -> str:
        return f"node {self.node} was shut down, and the pod with it"

    def _advice(self, _: ObjectName, /) -> str:
        return "delete the pod; its controller makes another one"


class KubeletRefused(Reason, frozen=True, kw_only=True):
    """The kubelet of the node did not take the pod, or ended it."""

    how: str
    words: str

    def _sentence(self) -> str:
        return f"the kubelet ended the pod ({self.how}){f': {self.words}' if self.words else ''}"

    def _advice(self, example: ObjectName, /) -> str:
        if self.how == "DeadlineExceeded":
            return "raise activeDeadlineSeconds, or let it do less"
        return f"kubectl delete {example} {example.in_namespace}, so that it is placed anew"


class NodeGone(Reason, frozen=True, kw_only=True):
    """The pod is on a node that is no more."""

    node: str

    def _sentence(self) -> str:
        return f"node {self.node} does not exist any more, and nothing ends its pods"

    def _advice(self, example: ObjectName, /) -> str:
        return f"kubectl delete {example} {example.in_namespace} --force"


class NodeNotReady(Reason, frozen=True, kw_only=True):
    """The pod is on a node that does not work."""

    node: str
    words: str = ""

    def _sentence(self) -> str:
        return f"node {self.node} is not ready{f': {self.words}' if self.words else ''}"

    def _advice(self, _: ObjectName, /) -> str:
        return f"kubectl describe node {self.node}"


class FinalizersLeft(Reason, frozen=True, kw_only=True):
    """A pod that was deleted and stays until somebody takes off its finalizers."""

    finalizers: tuple[str, ...]

    def _sentence(self) -> str:
        return f"it was deleted and stays: finalizer {', '.join(self.finalizers)} is still there"

    def _advice(self, _: ObjectName, /) -> str:
        return "the controller that has set it must take it off: is it running?"


class EndsSlowly(Reason, frozen=True, kw_only=True):
    """A pod that was deleted and whose containers have not ended in time."""

    node: str

    def _sentence(self) -> str:
        return f"it was deleted and does not end: its containers still run on node {self.node}"

    def _advice(self, example: ObjectName, /) -> str:
        return f"kubectl describe {example} {example.in_namespace}; kubectl get node {self.node}"


class SchedulingGated(Reason, frozen=True, kw_only=True):
    """A pod that nobody may place yet."""

    gates: tuple[str, ...]

    def _sentence(self) -> str:
        return f"it waits for scheduling gate {', '.join(self.gates)} to be taken off"

    def _advice(self, _: ObjectName, /) -> str:
        return "the controller that set the gate removes it, most often a queue"


class ReadinessGateClosed(Reason, frozen=True, kw_only=True):
    """A pod whose containers are ready, and which somebody else does not call so."""

    gates: tuple[str, ...]

    def _sentence(self) -> str:
        return f"its containers are ready; readiness gate {', '.join(self.gates)} is not"

    def _advice(self, _: ObjectName, /) -> str:
        return "the controller that sets this condition does not: is it running?"


class VolumeNotMounted(Reason, frozen=True, kw_only=True):
    """A volume that the node cannot attach or mount."""

    volume: str
    words: str

    def _sentence(self) -> str:
        return f"volume {self.volume} is not mounted: {self.words}"

    def _advice(self, example: ObjectName, /) -> str:
        if "Multi-Attach" in self.words or "already used by" in self.words:
            return "end the pod that has the volume, or use a volume that many nodes can mount"
        return f"kubectl describe {example} {example.in_namespace}"


class SandboxNotMade(Reason, frozen=True, kw_only=True):
    """A pod for which the node cannot make a network or a sandbox."""

    words: str

    def _sentence(self) -> str:
        return f"the node cannot make the pod's sandbox: {self.words}"

    def _advice(self, _: ObjectName, /) -> str:
        return "check the network plugin and the container runtime of the node"


class NobodyActs(Reason, frozen=True, kw_only=True):
    """A pod that has been waiting for long, and nobody says anything."""

    who: str

    def _sentence(self) -> str:
        return f"{self.who} has not taken it up, and nothing says why"

    def _advice(self, example: ObjectName, /) -> str:
        return f"is it running? kubectl describe {example} {example.in_namespace}"
