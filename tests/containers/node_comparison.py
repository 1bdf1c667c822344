"""The same pods on two nodes of one API server: what each of them reports, and where they differ.

Owns: what is looked at (status, events, and what the container says it sees), which parts of it are
of the moment and no difference, and the table.  Must not know how a node is started.

``python -m tests.containers.node_comparison [SCENE…]`` prints the table for a kubelet and ours.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from tests.containers.comparison_scenes import OBJECTS, Scene, scenes
from tests.containers.containerd import Containerd
from tests.containers.nodes import Kubelet, RefletNode
from tests.containers.registry import Registry
from tests.real.kube_server import KubeServer

POLL_INTERVAL: Final = 0.2  # seconds between two looks at a pod
EVENTS_TAKE: Final = 2.0  # seconds that events may come after the status that they belong to
MOMENTS: Final = (  # what is never the same twice, and how it is shown
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<uid>"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<id>"),
    (re.compile(r"\b[\d.]+(ms|s)\b"), "<duration>"),
    (re.compile(r"\b10\.0\.0\.\d+\b"), "<service ip>"),
)


Observation = Mapping[str, object]  # status, events and log


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two nodes differ: a scene, a path in what was seen, and both values."""

    scene: str
    path: str
    first: object
    second: object

    def row(self) -> str:
        """Show it as a row of a table."""
        cells = (_cell(self.first), _cell(self.second))
        return f"| {self.scene} | {self.path} | {cells[0]} | {cells[1]} |"


class Side:
    """One node's half of the comparison, in a namespace of its own."""

    def __init__(self, kube: KubeServer, node: str) -> None:
        self._kube = kube
        self._node = node
        self._root = f"/api/v1/namespaces/{node}"

    def __str__(self) -> str:
        return self._node

    def create(self, chosen: Sequence[Scene]) -> None:
        """Create the pods, and what they read."""
        with self._kube.connect() as connection:
            connection.create("/api/v1/namespaces", {"metadata": {"name": self._node}})
            for kind, body in OBJECTS:
                connection.create(f"{self._root}/{kind}", body)
            for scene in chosen:
                spec = {**scene.spec, "nodeName": self._node}
                body = {"metadata": {"name": scene.name}, "spec": spec}
                connection.create(f"{self._root}/pods", body)

    def pod(self, scene: Scene) -> dict[str, Any]:
        """The pod as the API server has it now."""
        found: dict[str, Any] = self._kube.request("GET", self._path(scene)).body
        return found

    def nudge(self, scene: Scene, times: int) -> None:
        """Have the node look at a pod again, which a change of its annotations does."""
        changes = {"metadata": {"annotations": {"nudged": str(times)}}}
        with self._kube.connect() as connection:
            merging = "application/merge-patch+json"
            connection.request("PATCH", self._path(scene), changes, content_type=merging)

    def look(self, scene: Scene, pod: dict[str, Any]) -> Observation:
        """Look at what the node says about a pod, and at what the pod says."""
        if scene.deleted:
            self._kube.request("DELETE", self._path(scene))
            while self._kube.request("GET", self._path(scene)).code == HTTPStatus.OK:
                time.sleep(POLL_INTERVAL)
            seen = {"events": self._events(scene)}
        else:
            log = self._log(scene)
            seen = {"status": pod["status"], "events": self._events(scene), "log": log}
        return {part: self._plain(value, pod) for part, value in seen.items()}

    def _path(self, scene: Scene) -> str:
        return f"{self._root}/pods/{scene.name}"

    def _events(self, scene: Scene) -> object:
        selector = f"fieldSelector=involvedObject.name={scene.name}"
        found = self._kube.request("GET", f"{self._root}/events?{selector}").body["items"]
        said = {f"{event['type']} {event['reason']}: {event['message']}" for event in found}
        return dict.fromkeys(sorted(said), "said")

    def _log(self, scene: Scene) -> object:
        answer = self._kube.request("GET", f"{self._path(scene)}/log?container=main").body
        lines = answer.splitlines() if isinstance(answer, str) else [answer["message"].rstrip()]
        return dict.fromkeys(lines, "said")

    def _plain(self, value: object, pod: dict[str, Any]) -> object:
        """Replace what belongs to this node, this pod and this moment."""
        text = json.dumps(value)
        status = pod["status"]
        for own, shown in (
            (status.get("podIP"), "<pod ip>"),
            (status.get("hostIP"), "<host ip>"),
            (f'"{self._node}"', '"<node>"'),
            (f"={self._node}", "=<node>"),
            (f"_{self._node}(", "_<namespace>("),
        ):
            text = text.replace(own, shown) if own else text
        for moment, shown in MOMENTS:
            text = moment.sub(shown, text)
        return json.loads(text)


def observe(
    sides: Sequence[Side], chosen: Sequence[Scene], *, patience: float
) -> dict[str, list[Observation]]:
    """Create all pods on all sides, and look at each when it is where it was going.

    A pod that does not get there is looked at when *patience* seconds are over.
    """
    for side in sides:
        side.create(chosen)
    deadline = time.monotonic() + patience
    waiting = {(scene.name, side): (scene, side) for scene in chosen for side in sides}
    arrived: dict[tuple[str, Side], tuple[float, bool, dict[str, Any]]] = {}
    nudged: set[tuple[str, Side, int]] = set()
    seen: dict[tuple[str, Side], Observation] = {}
    while waiting:
        for key, (scene, side) in [*waiting.items()]:
            if key not in arrived:
                pod, now = side.pod(scene), time.monotonic()
                if (there := scene.settled(pod)) or now > deadline:
                    arrived[key] = (now, there, pod)
                # A kubelet tells the back-off that it found at its next sync, and that comes when
                # the back-off is over: unless it has a reason, it is shown for a moment or never.
                elif (lives := _ended_lives(pod)) and (*key, lives) not in nudged:
                    nudged.add((*key, lives))
                    side.nudge(scene, lives)
            elif time.monotonic() - arrived[key][0] > EVENTS_TAKE:
                _, there, pod = arrived[key]
                seen[key] = {"settled": there, **side.look(scene, pod)}
                del waiting[key]
        time.sleep(POLL_INTERVAL)
    return {scene.name: [seen[scene.name, side] for side in sides] for scene in chosen}


def differences(scene: str, first: object, second: object, path: str = "") -> Iterator[Difference]:
    """Compare two values, and name each place where they differ."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in sorted({*first, *second}):
            below = f"{path}.{key}" if path else key
            yield from differences(scene, first.get(key), second.get(key), below)
    elif isinstance(first, list) and isinstance(second, list) and _named(first, second):
        yield from differences(scene, _by_name(first), _by_name(second), path)
    elif first != second:
        yield Difference(scene, path, first, second)


def _ended_lives(pod: dict[str, Any]) -> int:
    """How many lives of a container have ended of which the last is still shown; 0 for none."""
    return max(
        (
            each["restartCount"] + 1
            for kind in ("initContainerStatuses", "containerStatuses")
            for each in pod["status"].get(kind, [])
            if "terminated" in each["state"]
        ),
        default=0,
    )


def _named(*lists: list[Any]) -> bool:
    """Whether lists are of conditions or containers, which have names."""
    return all(
        isinstance(each, dict) and (each.get("name") or each.get("type"))
        for values in lists
        for each in values
    )


def _by_name(values: list[Any]) -> dict[str, Any]:
    return {each.get("name") or each["type"]: each for each in values}


def _cell(value: object) -> str:
    text = "-" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text.replace("|", "\\|")


def main(names: Sequence[str]) -> None:
    """Print where ``reflet node --runtime cri`` differs from a kubelet."""
    with (
        KubeServer() as kube,
        Registry() as registry,
        Containerd() as theirs,
        Containerd() as ours,
        Kubelet(kube, theirs, name="kubelet"),
        RefletNode(kube, ours, name="reflet"),
    ):
        for runtime in (theirs, ours):
            runtime.trust(registry)
        every = scenes(f"{registry.address}/shop/nobody:1")
        chosen = [scene for scene in every if not names or scene.name in names]
        seen = observe([Side(kube, "kubelet"), Side(kube, "reflet")], chosen, patience=120)
    rows = [
        difference.row()
        for scene, (first, second) in seen.items()
        for difference in differences(scene, first, second)
    ]
    head = ["| scene | where | kubelet | reflet node |", "|---|---|---|---|"]
    sys.stdout.write("\n".join([*head, *rows, ""]))


if __name__ == "__main__":
    main(sys.argv[1:])
