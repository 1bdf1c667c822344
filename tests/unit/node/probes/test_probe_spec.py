from __future__ import annotations

from typing import Any

import pytest

from reflet.node.probes.probe_spec import (
    ExecAction,
    GrpcAction,
    Handler,
    HttpGetAction,
    NoAction,
    Probe,
    ProbeKind,
    SleepAction,
    TcpSocketAction,
    handler_of,
    port_number,
    post_start_of,
    pre_stop_of,
    probe_of,
)
from tests.unit.node.pod_scenes import container, only, pod

LIVENESS, READINESS, STARTUP = ProbeKind.LIVENESS, ProbeKind.READINESS, ProbeKind.STARTUP
TCP = {"tcpSocket": {"port": 80}}


def test_a_container_without_probes_and_hooks_has_none() -> None:
    plain = only(pod())

    assert [probe_of(plain, kind) for kind in ProbeKind] == [None, None, None]
    assert (post_start_of(plain), pre_stop_of(plain)) == (None, None)


def test_what_a_probe_leaves_out_is_what_the_api_says() -> None:
    probe = probe_of(only(pod(container(livenessProbe=TCP))), LIVENESS)

    assert probe == Probe(
        handler=TcpSocketAction(80),
        initial_delay=0,
        period=10,
        timeout=1,
        successes=1,
        failures=3,
        grace=None,
    )


def test_each_probe_is_read_with_all_its_numbers() -> None:
    numbers = {
        "initialDelaySeconds": 1,
        "periodSeconds": 2,
        "timeoutSeconds": 3,
        "successThreshold": 4,
        "failureThreshold": 5,
        "terminationGracePeriodSeconds": 6,
    }
    of = only(
        pod(container(startupProbe=TCP | numbers, livenessProbe=TCP, readinessProbe=TCP | numbers))
    )

    startup, readiness = probe_of(of, STARTUP), probe_of(of, READINESS)

    assert startup is not None
    assert readiness is not None
    assert (startup.initial_delay, startup.period, startup.timeout) == (1, 2, 3)
    assert (startup.successes, startup.failures, startup.grace) == (1, 5, 6)
    assert (readiness.successes, readiness.grace) == (4, None)


@pytest.mark.parametrize(
    ("said", "handler"),
    [
        ({"exec": {"command": ["a", "b"]}}, ExecAction(("a", "b"))),
        ({"httpGet": {"port": "web"}}, HttpGetAction("web")),
        (
            {
                "httpGet": {
                    "port": 8443,
                    "host": "example.com",
                    "path": "/live?x=1",
                    "scheme": "HTTPS",
                    "httpHeaders": [{"name": "X-A", "value": "1"}, {"name": "X-A", "value": "2"}],
                }
            },
            HttpGetAction(8443, "example.com", "/live?x=1", "https", (("X-A", "1"), ("X-A", "2"))),
        ),
        ({"tcpSocket": {"port": 1, "host": "h"}}, TcpSocketAction(1, "h")),
        ({"grpc": {"port": 5, "service": "shop"}}, GrpcAction(5, "shop")),
        ({"grpc": {"port": 5, "service": None, "mode": "TLS"}}, GrpcAction(5, "", True)),
        ({"sleep": {"seconds": 7}}, SleepAction(7)),
        ({}, NoAction()),
        ({"exec": {}}, NoAction()),
        ({"exec": "a b", "httpGet": 5}, NoAction()),
        ({"httpGet": {"port": [1], "httpHeaders": ["x"]}}, HttpGetAction(0)),
    ],
)
def test_every_handler_is_read_and_nonsense_is_none(said: dict[str, Any], handler: Handler) -> None:
    assert handler_of(said) == handler


def test_hooks_are_read_from_the_lifecycle() -> None:
    of = only(
        pod(
            container(
                lifecycle={
                    "postStart": {"sleep": {"seconds": 1}},
                    "preStop": {"httpGet": {"port": 2}},
                }
            )
        )
    )

    assert (post_start_of(of), pre_stop_of(of)) == (SleepAction(1), HttpGetAction(2))


@pytest.mark.parametrize(
    ("port", "number"),
    [
        (80, 80),
        ("web", 8080),
        ("nobody", 'port "nobody" not found'),
        (0, "invalid port number: 0"),
        (70000, "invalid port number: 70000"),
    ],
)
def test_a_port_is_a_number_or_the_name_of_one(port: int | str, number: int | str) -> None:
    of = only(pod(container(ports=[{"name": "web", "containerPort": 8080}])))

    assert port_number(port, of) == number


def test_neither_a_command_nor_a_header_is_shown() -> None:
    shown = repr((ExecAction(("s3cret",)), HttpGetAction(1, headers=(("A", "s3cret"),))))

    assert "s3cret" not in shown
