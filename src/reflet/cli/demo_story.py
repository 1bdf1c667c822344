"""What ``reflet demo`` shows: three pods, two changes, one outage and one reason.

A scene begins with the command that makes it, fits on a terminal of 24 rows, waits for what it
shows and says how long that took; one that waits in vain ends the story with an error.  On a
terminal tables are redrawn, and there are pauses to read; elsewhere there are neither.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, final

import click

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.cli.output.environment_output import print_environment
from reflet.cli.output.masking import mask
from reflet.cli.output.output import HOME, clipped, columns, visible, width_of
from reflet.cli.output.palette import Meaning, obeys_escapes, paint
from reflet.cli.output.progress import progress
from reflet.cli.output.volume_files import print_files
from reflet.cli.output.why_output import report
from reflet.cli.stop_signals import when_told_to_stop
from reflet.cluster import Cluster, settings_from
from reflet.devserver.server import DevServer
from reflet.errors import RefletError
from reflet.informer.mirror import Mirror
from reflet.insight.why.cluster_state import ClusterState
from reflet.insight.why.diagnosis import diagnose
from reflet.node.agent import NodeAgent
from reflet.node.options import NodeOptions
from reflet.node.pods.admission import RunAs
from reflet.podconfig.gather import pod_inputs
from reflet.resolution.pod_inputs import Needs, PodInputs
from reflet.transport.config.kubeconfig import Overrides

OBJECTS: Final = Path(__file__).with_name("demo.yaml")
NODE: Final = "demo"
SETTLED: Final = {
    "secret-test-pod": "Succeeded",
    "dapi-test-pod": "CreateContainerConfigError",
    "shop": "Running",
}
PATIENCE: Final = 30.0  # seconds for any one thing to happen
AWAY: Final = 1.0  # seconds for which the server is gone
LOOK_EVERY: Final = 0.0005  # seconds between two looks at a file whose change is timed
REDRAW_EVERY: Final = 0.05
PAUSE: Final = 0.5  # seconds between two scenes, for people
NEXT: Final = {
    "reflet why": "what is wrong there, and what to do",
    "reflet env deploy/NAME": "what its containers get, and from where",
    "reflet run deploy/NAME -- CMD": "run CMD here with its configuration",
    "reflet demo --keep": "this again, kept running, with a live page",
}
GAP: Final = 3
_STATES: Final[Mapping[str, Meaning]] = {
    "Pending": "dim",
    "Running": "good",
    "Succeeded": "good",
}
_UP: Final = "\x1b[{}A"
_REST_OF_SCREEN: Final = "\x1b[J"


class StoryStuck(RefletError):
    """Something that the story shows did not happen."""


async def play(*, keep: bool, fast: bool = False) -> int:
    """Tell the story; with *keep*, leave everything running until somebody ends it.

    With *fast*, there are no pauses.
    """
    async with AsyncExitStack() as closing:
        with progress("starting an API server and a node agent", patience=0):
            root = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="reflet-demo-")))
            server = await closing.enter_async_context(DevServer(load=[str(OBJECTS)]))
            settings = settings_from(Overrides(kubeconfig=str(server.kubeconfig_path)))
            settings = dataclasses.replace(settings, qps=0)
            cluster = await closing.enter_async_context(Cluster(settings))
            options = _options(root, has_page=keep)
            agent = await closing.enter_async_context(NodeAgent(cluster, options))
            pods = await closing.enter_async_context(cluster.mirror(Pod, namespace="default"))
        pause = 0.0 if fast or not sys.stdout.isatty() else PAUSE
        story = _Story(server, cluster, agent, pods, pause=pause)
        await story.tell()
        _end(story)
        if keep:
            await _linger(server, agent)
    return 0


def _options(root: Path, *, has_page: bool) -> NodeOptions:
    # Whoever may run the demo may run the three commands in its own manifests, as they are, also
    # where nobody can have namespaces.
    me = RunAs(os.geteuid(), os.getegid())
    return NodeOptions(
        name=NODE,
        root=root / "node",
        run=True,
        user=me,
        isolation=False,
        health=("127.0.0.1", 0),
        ui=0 if has_page else None,
        retry=1.0,
    )


@final
class _Story:
    """The scenes, told one after the other."""

    def __init__(
        self,
        server: DevServer,
        cluster: Cluster,
        agent: NodeAgent,
        pods: Mirror[Pod],
        *,
        pause: float,
    ) -> None:
        self._server = server
        self._cluster = cluster
        self._agent = agent
        self._pods = pods
        self._pause = pause
        self.delays: list[float] = []

    async def tell(self) -> None:
        for number, scene in enumerate(
            (
                self._pods_start,
                self._what_a_container_gets,
                self._changes_arrive,
                self._the_connection_breaks,
                self._why_one_does_not_start,
            )
        ):
            if number:
                await asyncio.sleep(self._pause)
            await scene()
        await asyncio.sleep(self._pause)

    # Scenes

    async def _pods_start(self) -> None:
        title("A development API server, and three pods as processes of a node agent")
        typed("reflet serve -f demo.yaml")
        typed(f"reflet node --name {NODE} --run")
        table = LiveTable(("POD", "STATE", "WHAT THE AGENT SAYS"), widths=(15, 26, 30))

        def settled() -> bool:
            rows = {pod.metadata.name: _state(pod) for pod in _sorted(self._pods)}
            table.show(rows)
            return {name: row[0] for name, row in rows.items()} == SETTLED

        await self._until(settled, "the pods did not start", every=REDRAW_EVERY)

    async def _what_a_container_gets(self) -> None:
        title("What the container of pod shop gets, and where it comes from")
        typed("reflet env pod/shop")
        inputs = await self._inputs_of("shop")
        print_environment(inputs.environment("web"), reveal=False, no_headers=False, services=False)
        click.echo()
        typed("reflet files pod/shop")
        print_files(list(inputs.volumes().values()), no_headers=False)

    async def _changes_arrive(self) -> None:
        title("A ConfigMap and a Secret change, and so do the files of the running pod")
        typed(_patching("configmap special-config", '{"data":{"SPECIAL_LEVEL":"most"}}'))
        delay = await self._set_level("most")
        claim(f"configmap/special-config  very → most: in the file {_shown(delay)} later")
        old, new = "1f2d1e2e67df", "correct horse"
        typed(_patching("secret mysecret", '{"stringData":{"PASSWORD":…}}'))
        began = await self._patch(Secret, "mysecret", {"stringData": {"PASSWORD": new}})
        delay = await self._arrival("secret", "credentials", "PASSWORD", new, began)
        masks = f"{mask(len(old))} → {mask(len(new))}"
        claim(f"secret/mysecret  {masks}: in the file {_shown(delay)} later")
        aside("The kubelet polls, about once a minute; Reflet watches.")

    async def _the_connection_breaks(self) -> None:
        title("The API server stops, and comes back without its history")
        typed(f"reflet serve -f demo.yaml   # stopped, and started again {AWAY:g} s later")
        with progress("the server is away", patience=0):
            await self._server.restart(AWAY)
        self._server.state.storage.expire_history()
        claim(f"every connection broke, and nobody answered for {AWAY:g} s")
        statuses = self._pods["shop"].status.container_statuses
        claim(f"the process ran on: {statuses[0].restart_count} restarts, files untouched")
        with progress("waiting for the first change after it", patience=0):
            delay = await self._set_level("back again", counted=False)
        claim(f"most → back again: in the file {_shown(delay)} after the server was back")
        aside("After such an outage, the caches of client-go are stale for seconds.")

    async def _why_one_does_not_start(self) -> None:
        title("Why dapi-test-pod does not start, and how it does")
        typed("reflet why pod/dapi-test-pod")
        with progress("asking the server", patience=0):
            inputs = await self._inputs_of("dapi-test-pod", events=True)
        for line in report(diagnose(ClusterState(pods=(inputs,)))):
            click.echo(line)
        click.echo()
        typed(_patching("configmap special-config", '{"data":{"special.how":"very"}}'))
        began = await self._patch(ConfigMap, "special-config", {"data": {"special.how": "very"}})
        with progress("waiting for the pod", patience=0):
            await self._until(
                lambda: self._pods["dapi-test-pod"].status.phase == "Succeeded",
                "dapi-test-pod did not start",
            )
        delay = time.monotonic() - began
        claim(f"the key was added, and the pod ran by itself {_shown(delay)} later")

    # Steps

    async def _set_level(self, level: str, *, counted: bool = True) -> float:
        began = await self._patch(ConfigMap, "special-config", {"data": {"SPECIAL_LEVEL": level}})
        return await self._arrival(
            "configMap", "settings", "level.txt", level, began, counted=counted
        )

    async def _patch(
        self, kind: type[ConfigMap | Secret], name: str, patch: dict[str, object]
    ) -> float:
        """Change an object; the answer is when the server said that it had."""
        await self._cluster.resource(kind).patch(name, patch)
        return time.monotonic()

    async def _arrival(
        self, kind: str, volume: str, path: str, value: str, began: float, *, counted: bool = True
    ) -> float:
        uid = self._pods["shop"].metadata.uid
        file = self._agent.directories.volume(uid, kind, volume) / path
        await self._until(
            lambda: file.read_text() == value, f"{path} did not change", every=LOOK_EVERY
        )
        delay = max(time.monotonic() - began, 0.0)
        if counted:
            self.delays.append(delay)
        return delay

    async def _inputs_of(self, name: str, *, events: bool = False) -> PodInputs:
        return await pod_inputs(self._cluster, f"pods/{name}", needs=Needs(events=events))

    async def _until(
        self, happened: Callable[[], bool], otherwise: str, *, every: float = 0.01
    ) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not happened():  # noqa: ASYNC110 - a file tells nobody that it changed
                    await asyncio.sleep(every)
        except TimeoutError:
            raise StoryStuck(f"{otherwise} within {PATIENCE:g} seconds") from None


def _sorted(pods: Mirror[Pod]) -> list[Pod]:
    return sorted(pods.values(), key=lambda pod: list(SETTLED).index(pod.metadata.name))


def _state(pod: Pod) -> tuple[str, str]:
    """What a person wants to know of a pod: what it does, and why."""
    for status in pod.status.container_statuses:
        waiting = status.state.waiting
        if waiting is not None and waiting.reason and waiting.reason != "ContainerCreating":
            return waiting.reason, waiting.message
    return pod.status.phase or "Pending", pod.status.message


def _shown(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _patching(target: str, patch: str) -> str:
    return f"kubectl patch {target} -p '{patch}'"


def _end(story: _Story) -> None:
    title("That was it")
    slowest = _shown(max(story.delays))
    claim("three pods ran as processes")
    claim(f"{len(story.delays)} changes reached their files within {slowest}")
    claim("an outage of the server cost nothing")
    claim("no value of a Secret was shown")
    click.echo("\nNext, on your own cluster, or with -f on your files:")
    for command, purpose in NEXT.items():
        click.echo(f"  {paint(f'{command:<30}', 'name')}  {purpose}")
    click.echo(f"Documentation: {HOME}")


async def _linger(server: DevServer, agent: NodeAgent) -> None:
    """Stay until told to go."""
    click.echo("\nStill running; Ctrl-C ends it.  In another terminal:")
    click.echo(f"  export KUBECONFIG={server.kubeconfig_path}")
    click.echo("  kubectl get pods -o wide        kubectl describe pod dapi-test-pod")
    click.echo("  reflet explain pod/shop         kubectl edit configmap special-config")
    if agent.page is not None:
        token = await asyncio.to_thread(agent.page.token_file.read_text)
        click.echo(f"The live page of this node: {agent.page.url}#token={token.strip()}")
    ended = asyncio.Event()
    when_told_to_stop(lambda _: ended.set())
    await ended.wait()


# The stage


def title(text: str) -> None:
    """Begin a scene."""
    click.echo(f"\n{paint(f'── {text}', 'title')}\n")


def typed(command: str) -> None:
    """Show the command that makes what follows."""
    click.echo(paint("$ ", "dim") + paint(command, "name"))


def claim(text: str) -> None:
    """Say what has come true."""
    click.echo(f"{paint('✓', 'good')} {text}")


def aside(text: str) -> None:
    """Say what else is worth knowing."""
    click.echo(f"\n{paint(text, 'dim')}")


class LiveTable:
    """Rows by their first cell.

    On a terminal the table stays where it is and changes; elsewhere a row is printed whenever it
    is a new one.
    """

    def __init__(self, headings: tuple[str, ...], *, widths: tuple[int, ...]) -> None:
        self._headings = headings
        self._widths = widths
        self._shown: dict[str, tuple[str, ...]] = {}
        self._lines = 0

    def show(self, rows: Mapping[str, tuple[str, ...]]) -> None:
        """Show these rows; those that are shown already cost nothing."""
        if rows == self._shown:
            return
        if obeys_escapes(sys.stdout):
            if self._lines:
                click.echo(_UP.format(self._lines) + _REST_OF_SCREEN, nl=False)
            lines = [self._line(self._headings), *(self._line((k, *v)) for k, v in rows.items())]
            click.echo("\n".join(lines))
            self._lines = len(lines)
        else:
            if not self._shown:
                click.echo(self._line(self._headings))
            for key, row in rows.items():
                if self._shown.get(key) != row:
                    click.echo(self._line((key, *row)))
        self._shown = dict(rows)

    def _line(self, cells: tuple[str, ...]) -> str:
        padded = []
        for cell, width in zip(cells, self._widths, strict=True):
            text = visible(cell)
            padded.append(text + " " * max(width - width_of(text), 0))
        # A line that wraps would be two, and the next drawing would begin too low.
        line = clipped((" " * GAP).join(padded).rstrip(), columns())
        if cells == self._headings:
            return paint(line, "title")
        begin = self._widths[0] + GAP
        end = begin + self._widths[1]
        means = _STATES.get(cells[1], "wrong")
        return line[:begin] + paint(line[begin:end], means) + line[end:]
