"""Why a container does not run or is not ready: its image, its start, its end, its probes.

Upstream: pkg/kubelet/images/types.go; pkg/kubelet/kuberuntime/kuberuntime_container.go;
    pkg/kubelet/prober/prober.go
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from reflet.api.core.containers import Container
from reflet.api.core.pods import ContainerStateTerminated, ContainerStatus, Pod
from reflet.insight.why.cluster_state import READY_PATIENCE, StateView
from reflet.insight.why.reasons import ObjectName, Reason
from reflet.insight.why.signals import Signal, common_words, statuses_of
from reflet.resolution.places import containers_of

_PULLS: Final = frozenset(
    {
        *("ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"),
        *("ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"),
    }
)
_STARTS: Final = frozenset(
    {
        *("CreateContainerConfigError", "CreateContainerError", "RunContainerError"),
        *("PreCreateHookError", "PreStartHookError", "PostStartHookError"),
        *("StartError", "ContainerCannotRun"),
    }
)
CRASH_LOOP: Final = "CrashLoopBackOff"
OUT_OF_MEMORY: Final = "OOMKilled"
UNHEALTHY: Final = "Unhealthy"
_KILLED: Final = frozenset({137, 143})
_PROBE: Final = re.compile(r"^(?P<probe>Readiness|Liveness|Startup) probe (?:failed|errored)")
# Words of a kubelet that is about configuration; if it were so now, a reason would explain them.
_ABOUT_CONFIGURATION: Final = re.compile(
    r"(?:configmap|secret) \S+ not found|couldn't find key |non-existent config key", re.IGNORECASE
)

_COMMAND: Final = re.compile(r'exec: "[^"]*": .*|(?:executable file not found|exec format).*')

_CODES: Final[Mapping[int, str]] = {
    0: "it ends, and its pod is to run on",
    126: "its command cannot be executed",
    127: "its command was not found",
    134: "SIGABRT: it gave up by itself",
    137: "SIGKILL: it was killed, by a probe, an eviction or for its memory",
    139: "SIGSEGV: it crashed",
    143: "SIGTERM: it was asked to end",
}
_PULL_FAILURES: Final[Mapping[str, tuple[str, str]]] = {
    r"toomanyrequests|rate limit": (
        "the registry answers no more for now",
        "log in to the registry with a pull secret, or use a mirror of it",
    ),
    r"no such host|i/o timeout|connection refused|x509|tls:|deadline exceeded|no route": (
        "the registry cannot be reached",
        "check the name of the registry, and that nodes reach it and trust it",
    ),
    r"unauthorized|authentication|access denied|denied:|forbidden|403": (
        "the registry does not allow it, or has no such image",
        "check the name, and give the pod or its ServiceAccount a pull secret of the registry",
    ),
    r"not found|manifest unknown|does not exist": (
        "the registry has no such image",
        "check the name and the tag",
    ),
}


class ImageNotPulled(Reason, frozen=True, kw_only=True):
    """An image that a node does not get."""

    image: str
    why: str = ""
    fix: str = ""

    def _sentence(self) -> str:
        return f"image {self.image} is not pulled{f': {self.why}' if self.why else ''}"

    def _advice(self, example: ObjectName, /) -> str:
        return self.fix or f"kubectl describe {example} {example.in_namespace}"


class RunsAsRoot(Reason, frozen=True, kw_only=True):
    """A container that must not run as root, and whose image would."""

    whose: ObjectName
    container: str

    def _sentence(self) -> str:
        return f"container {self.container} has runAsNonRoot, and its image runs as root"

    def _advice(self, _: ObjectName, /) -> str:
        return "set securityContext.runAsUser to a number other than 0, or use another image"


class CommandUnusable(Reason, frozen=True, kw_only=True):
    """A container whose command is not there, or is no program."""

    whose: ObjectName
    container: str
    words: str

    def _sentence(self) -> str:
        return f"the command of container {self.container} cannot be started: {self.words}"

    def _advice(self, _: ObjectName, /) -> str:
        return "check command and args, and which programs the image has"


class ContainerNotStarted(Reason, frozen=True, kw_only=True):
    """A container that the kubelet or the runtime does not start, for another reason."""

    whose: ObjectName
    container: str
    how: str
    words: str

    def _sentence(self) -> str:
        words = f": {self.words}" if self.words else ""
        return f"container {self.container} is not started ({self.how}){words}"

    def _advice(self, example: ObjectName, /) -> str:
        return f"kubectl describe {example} {example.in_namespace}"


class ContainerExits(Reason, frozen=True, kw_only=True):
    """A container that ends, with its exit code; ``again`` means that it is restarted each time."""

    whose: ObjectName
    container: str
    code: int
    again: bool = False
    is_init: bool = False

    def _sentence(self) -> str:
        what = "init container" if self.is_init else "container"
        again = " again and again" if self.again else ""
        meaning = f" ({_CODES[self.code]})" if self.code in _CODES else ""
        others = "; the others wait for it" if self.is_init else ""
        return f"{what} {self.container} exits with code {self.code}{again}{meaning}{others}"

    def _advice(self, example: ObjectName, /) -> str:
        return f"read why: {_log_command(example, self.container, previous=self.again)}"


class OutOfMemory(Reason, frozen=True, kw_only=True):
    """A container that is killed for using more memory than it may."""

    whose: ObjectName
    container: str
    limit: str = ""

    def _sentence(self) -> str:
        than = f"its limit of {self.limit}" if self.limit else "its node has"
        return f"container {self.container} is killed: it uses more memory than {than}"

    def _advice(self, _: ObjectName, /) -> str:
        return f"raise resources.limits.memory of container {self.container}, or let it use less"


class ProbeFails(Reason, frozen=True, kw_only=True):
    """A container that does not answer a probe as it should."""

    whose: ObjectName
    container: str
    probe: str

    def _sentence(self) -> str:
        effect = "so it is not ready" if self.probe == "readiness" else "so it is killed"
        return f"the {self.probe} probe of container {self.container} fails, {effect}"

    def _advice(self, example: ObjectName, /) -> str:
        return (
            f"check what it asks, and what the container says: "
            f"{_log_command(example, self.container)}"
        )


class ContainerNotReady(Reason, frozen=True, kw_only=True):
    """A container that runs and is not ready, and nobody says why."""

    whose: ObjectName
    container: str

    def _sentence(self) -> str:
        return f"container {self.container} runs and is not ready; nothing says why"

    def _advice(self, example: ObjectName, /) -> str:
        return f"see its log: {_log_command(example, self.container)}"


def _log_command(example: ObjectName, container: str, *, previous: bool = False) -> str:
    words = ("kubectl logs", str(example), "-c", container, example.in_namespace)
    return " ".join(filter(None, (*words, "--previous" if previous else "")))


class Found(NamedTuple):
    """A reason, and the complaints that it explains."""

    reason: Reason
    explains: tuple[Signal, ...] = ()


def container_reasons(
    pod: Pod, whose: ObjectName, signals: Iterable[Signal], view: StateView
) -> Iterator[Found]:
    """Yield why containers of a pod do not run or are not ready; *whose* pod it is.

    Looked at are the complaints that nothing else explains.
    """
    specs = {placed.container.name: placed.container for placed in containers_of(pod.spec)}
    inits = {each.name for each in pod.spec.init_containers}
    left = list(signals)
    for status in statuses_of(pod):
        spec = specs.get(status.name)
        if spec is None:
            continue
        look = _ContainerLook(pod, spec, status, whose, left, is_init=status.name in inits)
        found = look.found() or look.not_ready(view)
        if found is not None:
            left = [signal for signal in left if signal not in found.explains]
            yield found


class _ContainerLook(NamedTuple):
    """One container, and the complaints about it."""

    pod: Pod
    spec: Container
    status: ContainerStatus
    whose: ObjectName
    signals: list[Signal]
    is_init: bool

    def found(self) -> Found | None:
        return (
            self._image() or self._start() or self._liveness() or self._end() or self._readiness()
        )

    def not_ready(self, view: StateView) -> Found | None:
        running = self.status.state.running
        late = running is not None and view.is_older(running.started_at, READY_PATIENCE)
        if self.is_init or self.status.ready or not late:
            return None
        return Found(ContainerNotReady(whose=self.whose, container=self.spec.name))

    def _about(self, wanted: Callable[[Signal], bool]) -> tuple[Signal, ...]:
        name = self.spec.name
        return tuple(
            signal
            for signal in self.signals
            if signal.container == name
            and signal.source in {"container", "event"}
            and wanted(signal)
        )

    def _image(self) -> Found | None:
        if not self._about(lambda signal: signal.reason in _PULLS):
            # Without a status, an event alone says little: it outlives what it complains about.
            return None
        about = self._about(_is_about_a_pull)
        words = " ".join(signal.message for signal in about)
        why = fix = ""
        if any(signal.reason == "InvalidImageName" for signal in about):
            why, fix = "that is no name of an image", "correct the name"
        elif any(signal.reason == "ErrImageNeverPull" for signal in about):
            why = "the node does not have it, and imagePullPolicy is Never"
            fix = "let it be pulled: imagePullPolicy IfNotPresent, or load it on the nodes"
        else:
            for pattern, (what, what_to_do) in _PULL_FAILURES.items():
                if re.search(pattern, words, re.IGNORECASE):
                    why, fix = what, what_to_do
                    break
        return Found(ImageNotPulled(image=self.spec.image, why=why, fix=fix), about)

    def _start(self) -> Found | None:
        about = self._about(lambda signal: signal.reason in _STARTS)
        if not about or any(_ABOUT_CONFIGURATION.search(each.message) for each in about):
            return None  # what was wrong with the configuration is so no more
        first = about[0]
        words = common_words(first.message, self.pod.metadata.name)
        about = (*about, *self._about(_is_about_a_restart), *self._errors_like(first))
        whose, name = self.whose, self.spec.name
        if "runAsNonRoot" in words:
            return Found(RunsAsRoot(whose=whose, container=name), about)
        command = _COMMAND.search(words)
        if command:
            return Found(CommandUnusable(whose=whose, container=name, words=command[0]), about)
        reason = ContainerNotStarted(whose=whose, container=name, how=first.reason, words=words)
        return Found(reason, about)

    def _errors_like(self, first: Signal) -> tuple[Signal, ...]:
        return self._about(
            lambda signal: signal.reason == "Failed" and first.message in signal.message
        )

    def _liveness(self) -> Found | None:
        """A probe that kills explains the end, where the code fits; the probe is the reason."""
        ended = self._ended()
        if ended is not None and ended.exit_code not in _KILLED:
            return None
        for probe in ("Liveness", "Startup"):
            about = self._of_probe(probe)
            if about:
                about = (*about, *self._about(_is_about_an_end))
                return Found(self._fails(probe), about)
        return None

    def _end(self) -> Found | None:
        ended = self._ended()
        waiting = self.status.state.waiting
        loops = waiting is not None and waiting.reason == CRASH_LOOP
        if ended is None or (not ended.exit_code and not loops):
            return None
        about = self._about(_is_about_an_end)
        if ended.reason == OUT_OF_MEMORY:
            limit = self.spec.resources.limits.get("memory", "")
            reason: Reason = OutOfMemory(whose=self.whose, container=self.spec.name, limit=limit)
        else:
            reason = ContainerExits(
                whose=self.whose,
                container=self.spec.name,
                code=ended.exit_code,
                again=loops or self.status.restart_count > 0,
                is_init=self.is_init,
            )
        return Found(reason, about)

    def _ended(self) -> ContainerStateTerminated | None:
        return self.status.state.terminated or self.status.last_state.terminated

    def _readiness(self) -> Found | None:
        about = self._of_probe("Readiness")
        return Found(self._fails("Readiness"), about) if about and not self.status.ready else None

    def _of_probe(self, probe: str) -> tuple[Signal, ...]:
        return self._about(lambda signal: _probe_of(signal) == probe)

    def _fails(self, probe: str) -> ProbeFails:
        return ProbeFails(whose=self.whose, container=self.spec.name, probe=probe.lower())


def _probe_of(signal: Signal) -> str:
    found = _PROBE.match(signal.message) if signal.reason == UNHEALTHY else None
    return found["probe"] if found else ""


def _is_about_a_pull(signal: Signal) -> bool:
    if signal.reason in _PULLS:
        return True
    pulls = ("Failed to pull image", "Error: ErrImage", "Error: ImagePull", "Back-off pulling")
    return signal.reason in {"Failed", "BackOff"} and signal.message.startswith(pulls)


def _is_about_a_restart(signal: Signal) -> bool:
    return signal.reason == CRASH_LOOP or (
        signal.reason == "BackOff" and "restarting failed container" in signal.message
    )


def _is_about_an_end(signal: Signal) -> bool:
    is_status = signal.source == "container" and signal.reason not in _PULLS | _STARTS
    return is_status or _is_about_a_restart(signal)
