"""``reflet node --runtime cri``: logs, commands, terminals and ports of containers, by kubectl."""

from __future__ import annotations

import re
import subprocess
import urllib.request

import pytest

from tests.containers.node_scenes import ContainerNode, container, pod

pytestmark = pytest.mark.time_limit(240)


def test_logs_are_followed_while_they_are_written(node: ContainerNode) -> None:
    count = "i=0; while :; do i=$((i+1)); echo line $i; sleep 0.1; done"
    name = node.running(pod("talking", container("sh", "-c", count)))

    with node.followed("logs", "-f", "--tail=1", name) as following:
        assert following.stdout is not None
        first = following.stdout.readline()
        second = following.stdout.readline()
        following.terminate()
        following.communicate()

    number = int(first.split()[1])
    assert second == f"line {number + 1}\n"
    assert re.match(r"20\d\d-.* line 1\n", node.kubectl("logs", name, "--timestamps"))
    node.delete(name)


def test_commands_run_with_their_input_their_exit_code_and_a_terminal(
    node: ContainerNode,
) -> None:
    name = node.running(pod("shell"))

    fed = node.kubectl("exec", "-i", name, "--", "cat", given="said\n")
    failed = node.called("exec", name, "--", "sh", "-c", "echo no >&2; exit 3")
    missing = node.called("exec", name, "--", "/no/such/program")

    assert fed == "said\n"
    assert (failed.returncode, failed.stderr.splitlines()[0]) == (3, "no")
    assert missing.returncode != 0
    node.delete(name)


def test_a_container_is_attached_to(node: ContainerNode) -> None:
    name = node.running(
        pod("echo", container("sh", "-c", 'read word; echo "got $word"; sleep 100000', stdin=True))
    )

    with node.followed("attach", "-i", name, stdin=subprocess.PIPE) as attached:
        assert attached.stdin is not None
        assert attached.stdout is not None
        attached.stdin.write("hello\n")
        attached.stdin.flush()
        said = attached.stdout.readline()
        attached.terminate()
        attached.communicate()

    assert said == "got hello\n"
    node.delete(name)


def test_ports_are_forwarded(node: ContainerNode) -> None:
    serve = "mkdir /www; echo hello > /www/index.html; exec httpd -f -p 8080 -h /www"
    name = node.running(pod("forwarded", container("sh", "-c", serve)))

    with node.followed("port-forward", name, ":8080") as forwarding:
        assert forwarding.stdout is not None
        port = re.search(r":(\d+) ->", forwarding.stdout.readline())
        assert port is not None
        with urllib.request.urlopen(f"http://127.0.0.1:{port[1]}/", timeout=10) as answer:
            said = answer.read()
        forwarding.terminate()
        forwarding.communicate()

    assert said == b"hello\n"
    node.delete(name)


# Terminals

TELL_SIZES = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done"


@pytest.mark.parametrize("websockets", ["true", "false"])
def test_a_command_has_a_terminal_that_takes_its_size_and_new_ones(
    node: ContainerNode, websockets: str
) -> None:
    name = node.running(pod(f"sizes-{websockets}"))
    command = ("exec", "-it", name, "--", "sh", "-c", TELL_SIZES)

    with node.terminal(*command, rows=33, columns=90, websockets=websockets) as terminal:
        terminal.until("ready")
        terminal.until("33 90")
        terminal.resize(40, 132)
        terminal.until("40 132")
        terminal.type("\x03")  # Ctrl-C is the terminal's in the container to understand
        code = terminal.exit_code()

    assert code == 130
    node.delete(name)


@pytest.mark.parametrize("websockets", ["true", "false"])
def test_a_shell_is_talked_to_in_a_terminal_and_returns_what_it_was_told(
    node: ContainerNode, websockets: str
) -> None:
    name = node.running(pod(f"shell-{websockets}"))
    command = ("exec", "-it", name, "--", "sh")

    with node.terminal(*command, rows=24, columns=80, websockets=websockets) as terminal:
        terminal.until("# ")
        terminal.type("tty && echo it is $((40 + 2))\n")
        terminal.until("/dev/pts/0")
        terminal.until("it is 42")
        terminal.type("exit 7\n")
        code = terminal.exit_code()

    assert code == 7
    node.delete(name)


@pytest.mark.parametrize("websockets", ["true", "false"])
def test_a_containers_own_terminal_is_attached_to(node: ContainerNode, websockets: str) -> None:
    listen = 'read line; echo "got $line"; trap "exit 5" INT; ' + TELL_SIZES
    name = node.running(
        pod(
            f"own-{websockets}",
            container("sh", "-c", listen, stdin=True, tty=True),
            restartPolicy="Never",
        )
    )
    command = ("attach", "-it", name)

    with node.terminal(*command, rows=33, columns=90, websockets=websockets) as terminal:
        terminal.type("one\n")
        terminal.until("got one")
        terminal.until("ready")
        terminal.resize(40, 132)
        terminal.until("40 132")
        terminal.type("\x03")
        code = terminal.exit_code()
    node.until(lambda: "terminated" in node.state(name), "it ends")

    assert code == 0  # what the container returned is for its pod to say
    assert node.state(name)["terminated"]["exitCode"] == 5
    node.delete(name)
