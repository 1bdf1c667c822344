from __future__ import annotations

from datetime import timedelta
from typing import Any

from reflet.play.pod_lifecycle import Surrounding, ended_status, next_status
from reflet.play.pod_scripts import COMPLETE, parse_script
from tests.unit.play.documents_scene import NOW, Document, pod


class Kubelet:
    """Lets a pod live: each ``step`` is one status, and time moves by what the last one waited."""

    def __init__(self, lived: Document, script: str = "run", missing: str = "") -> None:
        self.pod = lived
        self.now = NOW
        self.wait: float | None = None
        self._script = script
        self.missing = missing

    def step(self) -> Document:
        self.now += timedelta(seconds=self.wait or 0)
        inits = self.pod["spec"].get("initContainers", ())
        around = Surrounding(
            now=self.now,
            host_ip="192.168.0.2",
            pod_ip="10.244.0.1",
            scripts=lambda each: COMPLETE if each in inits else parse_script(self._script),
            missing=lambda _: self.missing,
        )
        status, self.wait = next_status(self.pod, around)
        self.pod = {**self.pod, "status": status}
        return dict(status)

    def state(self, container: int = 0) -> Any:
        return self.pod["status"]["containerStatuses"][container]["state"]


def conditions(status: Document) -> dict[str, str]:
    return {each["type"]: each["status"] for each in status["conditions"]}


def test_a_pod_runs_and_is_ready_with_the_next_status_and_stays_so() -> None:
    kubelet = Kubelet(pod())

    status = kubelet.step()

    assert (status["phase"], status["podIP"]) == ("Running", "10.244.0.1")
    assert set(conditions(status).values()) == {"True"}
    assert status["containerStatuses"][0]["containerID"].startswith("reflet://")
    assert kubelet.step() == status
    assert kubelet.wait is None


def test_a_container_that_crashes_is_started_at_once_then_after_10_then_after_20_seconds() -> None:
    kubelet = Kubelet(pod(), "exit 1")
    waits = []

    for _ in range(9):
        status = kubelet.step()["containerStatuses"][0]
        waits.append((status["restartCount"], *status["state"], kubelet.wait))

    assert waits == [
        (0, "running", None),
        (0, "terminated", None),
        (1, "running", None),
        (1, "terminated", None),
        (1, "waiting", 10.0),
        (2, "running", None),
        (2, "terminated", None),
        (2, "waiting", 20.0),
        (3, "running", None),
    ]
    assert "CrashLoopBackOff" not in str(kubelet.state())


def test_a_container_in_back_off_says_so_in_the_kubelets_words() -> None:
    kubelet = Kubelet(pod(), "exit 1")

    for _ in range(5):
        status = kubelet.step()

    assert status["containerStatuses"][0]["state"]["waiting"] == {
        "reason": "CrashLoopBackOff",
        "message": "back-off 10s restarting failed container=main pod=web-1_shop(uid of web-1)",
    }
    assert status["containerStatuses"][0]["lastState"]["terminated"]["exitCode"] == 1
    assert status["phase"] == "Running"


def test_a_pod_that_is_never_restarted_ends_as_its_containers_end() -> None:
    good, bad = (Kubelet(pod(restartPolicy="Never"), f"exit {code}") for code in (0, 3))

    for kubelet in (good, bad):
        kubelet.step()
        kubelet.step()

    assert good.pod["status"]["phase"] == "Succeeded"
    assert bad.pod["status"]["phase"] == "Failed"
    assert conditions(good.pod["status"])["Ready"] == "False"


def test_a_container_ends_when_its_time_is_over() -> None:
    kubelet = Kubelet(pod(restartPolicy="Never"), "exit 0 after 1m")

    kubelet.step()
    kubelet.step()

    assert kubelet.wait == 60.0
    assert kubelet.step()["phase"] == "Succeeded"


def test_init_containers_end_one_after_the_other_before_the_others_start() -> None:
    inits = [{"name": name, "image": name} for name in ("one", "two")]
    kubelet = Kubelet(pod(initContainers=inits))
    seen = []

    for _ in range(5):
        status = kubelet.step()
        states = [*status["initContainerStatuses"], *status["containerStatuses"]]
        seen.append([next(iter(each["state"])) for each in states])

    assert seen == [
        ["running", "waiting", "waiting"],
        ["terminated", "running", "waiting"],
        ["terminated", "terminated", "running"],
        *[["terminated", "terminated", "running"]] * 2,
    ]
    assert kubelet.pod["status"]["phase"] == "Running"


def test_a_container_that_lacks_its_configuration_waits_until_it_is_there() -> None:
    kubelet = Kubelet(pod(), missing='configmap "settings" not found')

    waiting = kubelet.step()
    kubelet.missing = ""

    assert waiting["phase"] == "Pending"
    assert waiting["containerStatuses"][0]["state"]["waiting"] == {
        "reason": "CreateContainerConfigError",
        "message": 'configmap "settings" not found',
    }
    assert kubelet.step()["phase"] == "Running"


def test_a_pod_with_a_readiness_gate_is_ready_when_somebody_says_so() -> None:
    kubelet = Kubelet(pod(readinessGates=[{"conditionType": "lb"}]))

    assert conditions(kubelet.step())["Ready"] == "False"
    kubelet.pod["status"]["conditions"].append({"type": "lb", "status": "True"})
    status = kubelet.step()

    assert conditions(status) == {**conditions(status), "Ready": "True", "lb": "True"}


def test_a_pod_that_is_told_to_end_has_failed_unless_it_was_done() -> None:
    kubelet = Kubelet(pod())
    kubelet.step()

    status = ended_status(kubelet.pod, NOW)

    assert status["phase"] == "Failed"
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 143
